# t.test, paired, of all pairs of a table with gaps: only replicates that both have.
source("to_json.R")
set.seed(1618)
scores <- matrix(round(rnorm(5 * 9, rep(c(0, 0.2, 0.4, 0.8, 1.6), 9)), 6), nrow = 5)
scores[2, 3] <- NA
scores[4, c(3, 8)] <- NA
pairs <- list()
for (i in 1:5) for (j in 1:5) if (i != j) {
  has <- !is.na(scores[i, ]) & !is.na(scores[j, ])
  a <- scores[i, has]
  b <- scores[j, has]
  pairs[[length(pairs) + 1]] <- list(
    i = i - 1, j = j - 1, wins = sum(a > b), n = sum(has),
    pvalue = t.test(a, b, paired = TRUE, alternative = "greater")$p.value
  )
}
scores[is.na(scores)] <- -99 # JSON has no NA
write_json(list(scores = lapply(1:5, function(i) scores[i, ]), pairs = pairs), "all_pairs.json")
