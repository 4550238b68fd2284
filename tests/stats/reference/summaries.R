# From mean, standard deviation and n: Welch's t by its formula, and the Reiser-Guttman interval
# for P(A > B) under normality, by solving R's noncentral t for the noncentrality.
source("to_json.R")
reiser_guttman <- function(ma, sa, na, mb, sb, nb, level) {
  spread <- sa^2 + sb^2
  effect <- (ma - mb) / sqrt(spread)
  pairs <- spread / (sa^2 / na + sb^2 / nb)
  df <- spread^2 / (sa^4 / (na - 1) + sb^4 / (nb - 1))
  seen <- effect * sqrt(pairs)
  at <- function(share) uniroot(
    function(ncp) pt(seen, df, ncp) - share, c(seen - 6, seen + 6), tol = 1e-13
  )$root
  tail <- (1 - level) / 2
  c(pnorm(effect), pnorm(c(at(1 - tail), at(tail)) / sqrt(pairs)))
}
cases <- list()
for (level in c(0.9, 0.95)) {
  for (mb in c(0, 0.8, -2)) {
    for (nb in c(5, 20)) {
      ma <- 1; sa <- 1.2; na <- 10; sb <- 0.7
      p <- reiser_guttman(ma, sa, na, mb, sb, nb, level)
      va <- sa^2 / na
      vb <- sb^2 / nb
      statistic <- (ma - mb) / sqrt(va + vb)
      df <- (va + vb)^2 / (va^2 / (na - 1) + vb^2 / (nb - 1))
      cases[[length(cases) + 1]] <- list(
        a = c(ma, sa, na), b = c(mb, sb, nb), confidence_level = level,
        probability = p[1], low = p[2], high = p[3],
        statistic = statistic, two_sided = 2 * pt(-abs(statistic), df),
        greater = pt(statistic, df, lower.tail = FALSE), less = pt(statistic, df)
      )
    }
  }
}
write_json(cases, "summaries.json")
