# A JSON writer in base R, so that no package is needed. Numbers keep all their digits.
# Run any script here from this folder: Rscript intervals.R
to_json <- function(x) {
  if (is.list(x)) {
    parts <- vapply(x, to_json, "")
    if (is.null(names(x))) return(paste0("[", paste(parts, collapse = ",\n "), "]"))
    return(paste0("{", paste0('"', names(x), '": ', parts, collapse = ", "), "}"))
  }
  text <- if (is.character(x)) paste0('"', x, '"') else sprintf("%.17g", x)
  if (length(x) == 1 && is.null(attr(x, "vector"))) text else paste0("[", paste(text, collapse = ", "), "]")
}

write_json <- function(x, path) cat(to_json(x), "\n", sep = "", file = path)
