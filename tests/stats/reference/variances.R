# Standard deviations with Bonett's interval, shapiro.test, F ratios of var.test, and the mean
# squares of aov on crossed tables with one value per cell, solved for the components of variance.
source("to_json.R")
set.seed(1618)
# Bonett (2006), equations 4 and 5.
bonett <- function(x, level) {
  n <- length(x)
  z <- qnorm((1 + level) / 2)
  c <- n / (n - z)
  centre <- mean(x, trim = 1 / (2 * sqrt(n - 4)))
  kurtosis <- n * sum((x - centre)^4) / sum((x - mean(x))^2)^2
  se <- c * sqrt((kurtosis - (n - 3) / n) / (n - 1))
  sqrt(exp(log(c * var(x)) + c(-1, 1) * z * se))
}
draws <- list(rnorm, rexp, function(n) rt(n, 3), function(n) 100 + rnorm(n) / 1000)
deviations <- list()
for (draw in draws) for (n in c(5, 6, 20, 200)) for (level in c(0.9, 0.99)) {
  x <- round(draw(n), 8)
  deviations[[length(deviations) + 1]] <- list(
    values = x, confidence_level = level, sd = sd(x), interval = bonett(x, level),
    shapiro = shapiro.test(x)$p.value
  )
}
ratios <- list()
for (n in c(2, 3, 4)) {
  a <- round(rnorm(n), 8)
  b <- round(rnorm(2 * n, sd = 3), 8)
  ratios[[length(ratios) + 1]] <- list(
    a = a, b = b, ratio = sd(a) / sd(b), interval = sqrt(as.numeric(var.test(a, b)$conf.int))
  )
}
# Ting et al. (1990), bounds of a sum of mean squares with weights of either sign; F(n, Inf) is
# a chi-square divided by n. The upper bound is written out, as the paper has it. What is taken is a
# variance too, so that neither bound lies inside that of the mean squares on its own side alone.
ting <- function(weights, squares, df, alpha = 0.025) {
  w <- abs(weights) * squares
  p <- which(weights > 0)
  r <- which(weights < 0)
  G <- 1 - 1 / qf(1 - alpha, df, Inf)
  H <- 1 / qf(alpha, df, Inf) - 1
  lower <- sum((G * w)[p]^2) + sum((H * w)[r]^2)
  upper <- sum((H * w)[p]^2) + sum((G * w)[r]^2)
  for (i in p) for (j in r) {
    f <- qf(1 - alpha, df[i], df[j])
    lower <- lower + ((f - 1)^2 - G[i]^2 * f^2 - H[j]^2) / f * w[i] * w[j]
    f <- qf(alpha, df[i], df[j])
    upper <- upper + ((1 - f)^2 - H[i]^2 * f^2 - G[j]^2) / f * w[i] * w[j]
  }
  pairs <- function(k) {
    if (length(k) < 2) return(0)
    sum(combn(k, 2, function(ij) {
      n <- df[ij[1]]
      m <- df[ij[2]]
      pooled <- (1 - 1 / qf(1 - alpha, n + m, Inf))^2 * (n + m)^2 / (n * m)
      star <- (pooled - G[ij[1]]^2 * n / m - G[ij[2]]^2 * m / n) / (length(k) - 1)
      star * w[ij[1]] * w[ij[2]]
    }))
  }
  value <- sum(weights * squares)
  alone <- function(k) sqrt(sum((G * w)[k]^2) + pairs(k))
  below <- max(sqrt(lower + pairs(p)), alone(p) - sum(w[r]))
  above <- max(sqrt(upper + pairs(r)), alone(r) - sum(w[p]))
  pmax(0, c(value - below, value + above))
}
# Two and three factors: mean squares of aov in the order of its table, main effects first.
crossed <- function(levels) {
  cells <- expand.grid(lapply(rev(levels), seq_len))
  cells <- as.data.frame(lapply(rev(cells), factor))
  names(cells) <- head(c("x", "y", "z"), length(levels))
  cells$score <- round(
    rnorm(levels[1])[cells$x] + 2 * rnorm(levels[2])[cells$y] + rnorm(nrow(cells)), 6
  )
  formula <- if (length(levels) == 2) score ~ x * y else score ~ x * y * z
  table <- suppressWarnings(summary(aov(formula, cells))[[1]])
  names <- trimws(rownames(table))
  sets <- strsplit(names, ":")
  n <- setNames(levels, head(c("x", "y", "z"), length(levels)))
  weights <- sapply(sets, function(small) sapply(sets, function(large) {
    contained <- all(small %in% large)
    contained * (-1)^(length(large) - length(small)) / prod(n[!(names(n) %in% small)])
  }))
  intervals <- lapply(seq_along(sets), function(i) ting(weights[, i], table$`Mean Sq`, table$Df))
  list(
    levels = levels, scores = cells$score, names = names,
    df = table$Df, mean_squares = table$`Mean Sq`, intervals = intervals,
    total = ting(rowSums(weights), table$`Mean Sq`, table$Df)
  )
}
tables <- list(crossed(c(3, 4)), crossed(c(2, 3, 5)), crossed(c(6, 2, 2)))
write_json(list(deviations = deviations, ratios = ratios, tables = tables), "variances.json")
