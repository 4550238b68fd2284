# Boo_n: the constants of the normal distribution by integrate(), the weights of equation 7 and of
# drawing without replacement by ranks, leave-one-out errors, and a plain bootstrap over runs.
source("to_json.R")
set.seed(2718)
constants <- list()
for (n in c(1, 2, 3, 5, 10, 50, 100, 1000, 1e4, 1e6, 1e8)) {
  middle <- qnorm(1 - 1 / (n + 1))
  density <- function(x) x * n * exp((n - 1) * pnorm(x, log.p = TRUE) + dnorm(x, log = TRUE))
  parts <- c(-12, middle + c(-2, -1, 0, 1, 2, 4), 14)
  value <- 0
  for (i in seq_len(length(parts) - 1)) {
    value <- value + integrate(density, parts[i], parts[i + 1], rel.tol = 1e-12)$value
  }
  constants[[length(constants) + 1]] <- list(n = n, value = value)
}
# Tied runs share the sum of their weights, by ave().
weigh <- function(weights, validation) ave(weights[rank(validation, ties.method = "first")], validation)
v_weights <- function(m, n) (seq_len(m) / m)^n - ((seq_len(m) - 1) / m)^n
u_weights <- function(m, n) choose(seq_len(m) - 1, n - 1) / choose(m, n)
boo <- function(validation, test, n, f = v_weights) {
  sum(weigh(f(length(test), n), validation) * test)
}
cases <- list()
for (m in c(6, 25)) for (digits in c(1, 8)) for (n in c(1, 3, 6)) {
  validation <- round(rnorm(m), digits)
  test <- round(0.6 * validation + rnorm(m), 8)
  left <- sapply(seq_len(m), function(i) boo(validation[-i], test[-i], n))
  drawn <- replicate(20000, {
    i <- sample(m, replace = TRUE)
    boo(validation[i], test[i], n)
  })
  cases[[length(cases) + 1]] <- list(
    n = n, validation = validation, test = test,
    v = boo(validation, test, n), u = boo(validation, test, n, u_weights),
    gaussian = mean(test) + cor(validation, test) * sd(test) *
      integrate(function(x) x * n * pnorm(x)^(n - 1) * dnorm(x), -12, 12, rel.tol = 1e-12)$value,
    error = sqrt((m - 1) / m * sum((left - mean(left))^2)),
    mean = mean(drawn), sd = sd(drawn), low = quantile(drawn, 0.05)[[1]],
    high = quantile(drawn, 0.95)[[1]]
  )
}
write_json(list(constants = constants, cases = cases), "best_of_n.json")
