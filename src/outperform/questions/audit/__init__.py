"""Whether picked seeds could have shown this."""
