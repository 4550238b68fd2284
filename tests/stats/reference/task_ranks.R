# friedman.test (which corrects for ties) and mean ranks; ptukey and qtukey with infinitely many
# degrees of freedom.
source("to_json.R")
set.seed(1937)
test <- function(scores) {
  result <- friedman.test(scores)
  list(
    scores = lapply(seq_len(nrow(scores)), function(i) scores[i, ]),
    ranks = colMeans(t(apply(-scores, 1, rank))),
    chi2 = as.numeric(result$statistic), pvalue = result$p.value
  )
}
draw <- function(n_tasks, k, digits) {
  means <- rep(seq(0, 0.7, length.out = k), each = n_tasks)
  round(matrix(rnorm(n_tasks * k, means), n_tasks, k), digits)
}
friedman <- list(
  test(draw(14, 4, 6)), test(draw(30, 7, 6)), test(draw(12, 3, 0)), test(draw(40, 5, 0)),
  test(draw(9, 2, 6)), test(draw(5, 20, 1))
)
ranges <- list()
for (k in c(2, 3, 4, 5, 10, 50)) {
  q <- c(0.1, 1, 2.5, 4, 6)
  ranges[[length(ranges) + 1]] <- list(
    k = k, q = q, tail = ptukey(q, k, Inf, lower.tail = FALSE),
    quantiles = lapply(c(0.1, 0.05, 0.01), function(a) list(
      alpha = a, q = qtukey(a, k, Inf, lower.tail = FALSE)
    ))
  )
}
write_json(list(friedman = friedman, ranges = ranges), "task_ranks.json")
