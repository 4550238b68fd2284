# p.adjust, with ties, zeros and ones; and partial conjunction from p.adjust and pchisq, written
# out task by task as Dror et al. (2017) do.
source("to_json.R")
set.seed(1979)
families <- list(
  structure(0.03, vector = TRUE),
  c(0.04, 0.01, 0.03),
  c(0, 1, 0.5, 0.5, 1e-300),
  round(rbeta(8, 0.4, 2), 3),
  round(rbeta(40, 0.2, 3), 2),
  signif(rbeta(25, 0.3, 1), 9)
)
conjunction <- function(p, combine) {
  ordered <- sort(p)
  n <- length(p)
  structure(vapply(seq_len(n), function(u) combine(ordered[u:n]), 0), vector = TRUE)
}
fisher <- function(rest) pchisq(-2 * sum(log(rest)), 2 * length(rest), lower.tail = FALSE)
bonferroni <- function(rest) min(1, length(rest) * min(rest))
adjust <- function(p, method) structure(p.adjust(p, method), vector = TRUE)
write_json(
  lapply(families, function(p) list(
    pvalues = p, holm = adjust(p, "holm"), bonferroni = adjust(p, "bonferroni"),
    benjamini_hochberg = adjust(p, "BH"),
    conjunction = list(bonferroni = conjunction(p, bonferroni), fisher = conjunction(p, fisher))
  )),
  "pvalue_corrections.json"
)
