# Intraclass correlation with its F interval, from the mean squares of a one-way aov.
source("to_json.R")
set.seed(2718)
cases <- list()
for (shared in c(0, 0.3, 2)) for (size in list(c(2, 2), c(5, 3), c(8, 6))) for (level in c(0.9, 0.99)) {
  n <- size[1]
  k <- size[2]
  scores <- matrix(round(rep(rnorm(n, sd = shared), each = k) + rnorm(n * k), 6), nrow = k)
  repetition <- factor(rep(seq_len(n), each = k))
  squares <- summary(aov(as.vector(scores) ~ repetition))[[1]][["Mean Sq"]]
  ratio <- squares[1] / squares[2]
  tail <- (1 - level) / 2
  limits <- ratio / qf(c(1 - tail, tail), n - 1, n * (k - 1))
  cases[[length(cases) + 1]] <- list(
    scores = lapply(seq_len(n), function(i) scores[, i]), confidence_level = level,
    within = squares[2], shared = (squares[1] - squares[2]) / k,
    correlation = (ratio - 1) / (ratio + k - 1), interval = (limits - 1) / (limits + k - 1)
  )
}
write_json(list(cases = cases), "repetitions.json")
