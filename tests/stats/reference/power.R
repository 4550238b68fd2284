# The verdict between n pairs without ties, by looking at every number of wins.
# Significant: the lower bound is above one half. Meaningful: the upper one is above gamma.
source("to_json.R")
bounds <- function(wins, n, alpha, interval) switch(interval,
  "percentile" = c(qbinom(alpha / 2, n, wins / n), n - qbinom(alpha / 2, n, 1 - wins / n)) / n,
  "wilson" = suppressWarnings(prop.test(wins, n, conf.level = 1 - alpha, correct = FALSE))$conf.int,
  "exact" = binom.test(wins, n, conf.level = 1 - alpha)$conf.int
)
significant <- function(wins, n, alpha, interval) {
  # All pairs won: the percentile interval is [1, 1] and says nothing, and Wilson's concludes from
  # four pairs; Clopper-Pearson must agree.
  agreed <- wins < n || bounds(wins, n, alpha, "exact")[1] > 0.5
  agreed && bounds(wins, n, alpha, interval)[1] > 0.5
}
meaningful <- function(wins, n, alpha, interval, gamma) bounds(wins, n, alpha, interval)[2] > gamma
cases <- list()
for (interval in c("percentile", "wilson", "exact")) for (alpha in c(0.05, 0.01)) {
  for (n in c(5, 6, 10, 29, 60)) {
    sig <- vapply(0:n, significant, TRUE, n, alpha, interval)
    for (gamma in c(0.6, 0.75)) for (probability in c(0.5, 0.75, 0.9)) {
      both <- sig & vapply(0:n, meaningful, TRUE, n, alpha, interval, gamma)
      cases[[length(cases) + 1]] <- list(
        interval = interval, alpha = alpha, n = n, gamma = gamma, probability = probability,
        power = sum(dbinom(0:n, n, probability)[both]),
        size = 2 * sum(dbinom(0:n, n, 0.5)[sig])
      )
    }
  }
}
write_json(cases, "power.json")
