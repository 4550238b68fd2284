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
  list(
    levels = levels, scores = cells$score, names = trimws(rownames(table)),
    df = table$Df, mean_squares = table$`Mean Sq`
  )
}
tables <- list(crossed(c(3, 4)), crossed(c(2, 3, 5)), crossed(c(6, 2, 2)))
write_json(list(deviations = deviations, ratios = ratios, tables = tables), "variances.json")
