# The statistic of Skillings and Mack (1981) as they define it, without any package: A' C^- A, where
# A are weighted sums of ranks and C their covariance; the last competitor is left out of both,
# which is one of the inverses. Assembly times are theirs; Brady's (1969)
# data are in Hollander and Wolfe.
source("to_json.R")
set.seed(1981)
measure <- function(scores) {
  k <- ncol(scores)
  seen <- !is.na(scores)
  n <- rowSums(seen)
  ranks <- t(apply(scores, 1, rank, na.last = "keep"))
  middle <- matrix((n + 1) / 2, nrow(scores), k)
  ranks[!seen] <- middle[!seen]
  sums <- colSums(sqrt(12 / (n + 1)) * (ranks - middle))
  covariance <- matrix(0, k, k)
  for (i in seq_len(k)) for (j in seq_len(k)) if (i != j) {
    together <- sum(seen[, i] & seen[, j])
    covariance[i, j] <- -together
    covariance[i, i] <- covariance[i, i] + together
  }
  left <- seq_len(k - 1)
  statistic <- sums[left] %*% solve(covariance[left, left], sums[left])
  as.numeric(statistic)
}
test <- function(scores) {
  statistic <- measure(scores)
  scores[is.na(scores)] <- NaN # which Python reads
  list(
    scores = lapply(seq_len(nrow(scores)), function(i) scores[i, ]),
    statistic = statistic, df = ncol(scores) - 1,
    pvalue = pchisq(statistic, ncol(scores) - 1, lower.tail = FALSE)
  )
}
draw <- function(n_tasks, k, digits, share) {
  means <- rep(seq(0, 1, length.out = k), each = n_tasks)
  scores <- round(matrix(rnorm(n_tasks * k, means), n_tasks, k), digits)
  gaps <- matrix(runif(n_tasks * k) < share, n_tasks, k)
  gaps[, 1:2] <- FALSE # two scores at least
  scores[gaps] <- NA
  scores
}
assembly <- rbind(
  c(3.2, 4.1, 3.8, 4.2), c(3.1, 3.9, 3.4, 4.0), c(4.3, 3.5, 4.6, 4.8), c(3.5, 3.6, 3.9, 4.0),
  c(3.6, 4.2, 3.7, 3.9), c(4.5, 4.7, 3.7, NA), c(NA, 4.2, 3.4, NA), c(4.3, 4.6, 4.4, 4.9),
  c(3.5, NA, 3.7, 3.9)
)
brady <- cbind(
  c(3, 1, 5, 2, 0, 0, 0, 0), c(5, 3, 4, NA, 2, 2, 3, 2), c(15, 18, 21, 6, 17, 10, 8, 13)
)
cases <- list(test(assembly), test(brady), test(draw(14, 4, 6, 0.3)), test(draw(40, 6, 0, 0.2)),
  test(draw(9, 3, 6, 0.5)), test(draw(12, 5, 6, 0)))
write_json(list(cases = cases), "skillings_mack.json")
