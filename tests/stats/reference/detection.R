# Power of t-tests, one direction of a two-sided test, by R's noncentral t.
# Welch: R has no exact power; the mean over how the two samples share the variance is integrated.
source("to_json.R")
difference <- function(probability) qnorm(probability) * sqrt(2)
paired <- function(n, probability, alpha) {
  ncp <- difference(probability) * sqrt(n / 2)
  pt(qt(1 - alpha / 2, n - 1), n - 1, ncp, lower.tail = FALSE)
}
welch <- function(n, probability, alpha) {
  given_share <- function(share) {
    limit <- qt(1 - alpha / 2, (n - 1) / (share^2 + (1 - share)^2))
    ncp <- difference(probability) * sqrt(n / 2)
    density <- dbeta(share, (n - 1) / 2, (n - 1) / 2)
    pt(limit, 2 * (n - 1), ncp, lower.tail = FALSE) * density
  }
  integrate(given_share, 0, 1, rel.tol = 1e-10)$value
}
cases <- list()
for (n in c(3, 10, 29, 50)) for (probability in c(0.5, 0.6, 0.75, 0.9)) for (alpha in c(0.05, 0.01)) {
  cases[[length(cases) + 1]] <- list(
    n = n, probability = probability, alpha = alpha,
    paired = paired(n, probability, alpha), welch = welch(n, probability, alpha)
  )
}
write_json(cases, "detection.json")
