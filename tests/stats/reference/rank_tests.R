# wilcox.test: exact where R can (no ties), else the normal approximation without continuity
# correction; and the Mann-Whitney count.
source("to_json.R")
set.seed(2718)
signed_rank <- function(a, b, exact) {
  p <- function(alternative) suppressWarnings(
    wilcox.test(a, b, paired = TRUE, exact = exact, correct = FALSE, alternative = alternative)
  )
  list(
    a = a, b = b, statistic = as.numeric(p("two.sided")$statistic),
    two_sided = p("two.sided")$p.value, greater = p("greater")$p.value, less = p("less")$p.value
  )
}
wilcoxon <- list()
for (n in c(5, 12, 29, 50)) {
  a <- round(rnorm(n, 0.3), 6)
  b <- round(rnorm(n), 6)
  wilcoxon[[length(wilcoxon) + 1]] <- signed_rank(a, b, TRUE)
}
for (n in c(51, 80)) {
  a <- round(rnorm(n, 0.3), 6)
  b <- round(rnorm(n), 6)
  wilcoxon[[length(wilcoxon) + 1]] <- signed_rank(a, b, FALSE)
}
# Whole numbers: tied ranks and zeros, more than 50 differences left.
a <- rpois(120, 4)
b <- rpois(120, 3)
stopifnot(sum(a != b) > 50, any(a == b))
wilcoxon[[length(wilcoxon) + 1]] <- signed_rank(a, b, FALSE)

x <- rpois(13, 4)
y <- rpois(9, 3)
count <- suppressWarnings(wilcox.test(x, y, exact = FALSE)$statistic)
write_json(
  list(
    wilcoxon = wilcoxon,
    mann_whitney = list(a = x, b = y, probability = as.numeric(count) / (13 * 9))
  ),
  "rank_tests.json"
)
