"""Values that nobody means, but somebody will give."""

from hypothesis import strategies as st

NAMES = (
    "",
    " ",
    "a",
    "b ",
    "A",
    "a\nb",
    "a\n\nNext: rm -rf",
    "a\tb",
    "\x1b[2J",
    "\x00",
    "\u202eab",
    "\ufeff",
    "\ud800",
    "é" * 300,
    "残差",
    "[red]x[/red]",
    "$x^{2}$",
    "{a}",
    "%s",
    "<script>",
    "'",
    '"',
    "\\",
    "--json",
    "-",
    "=1+1",
    "None",
    "x" * 5000,
)
NUMBERS = (
    "nan",
    "NaN",
    "inf",
    "-inf",
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "0.5",
    "1.5",
    "5e-324",
    "1e-400",
    "1e-300",
    "1e17",
    "1e150",
    "1e160",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "1e309",
    "9" * 400,
    "-" + "9" * 400,
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "4294967296",
    "1000000",
    "1_000",
    "1,5",
    "1.234.567,8",
    "0x10",
    "٣",
    "²",
    "½",
    "50%",
    "1e",
    "+",
    ".",
    "--1",
    "true",
    "null",
)
BYTES = (
    *(b"\x00", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[2J", b"\\u0000"),
    *(b"\r", b"\n", b"\r\n\r\n", b'"', b'"""', b"'", b",", b";", b"\t", b"#", b"=", b"\\"),
    *(b"{", b"}", b"[" * 60, b"]", b"e999", b"9" * 400, b"NaN"),
)

texts = st.sampled_from(NAMES) | st.text(max_size=8)
numbers = st.sampled_from(NUMBERS) | st.floats().map(repr) | st.integers().map(str)
cells = st.one_of(numbers, texts)


@st.composite
def damage(draw: st.DrawFn, content: bytes, most: int = 4) -> bytes:
    """The same bytes with some flipped, cut out, cut off, doubled, put in or exchanged."""
    for _ in range(draw(st.integers(0, most))):
        size = len(content)
        start = draw(st.integers(0, size))
        end = min(size, start + draw(st.sampled_from([0, 1, 2, 7, 60, 600])))
        before, part, after = content[:start], content[start:end], content[end:]
        match draw(st.sampled_from(["flip", "cut", "end", "double", "put", "swap"])):
            case "flip":
                part = bytes(byte ^ draw(st.integers(1, 255)) for byte in part[:2]) + part[2:]
            case "cut":
                part = b""
            case "end":
                after = b""
            case "double":
                part = part * draw(st.integers(2, 5))
            case "put":
                part = draw(st.sampled_from(BYTES) | st.binary(max_size=4)) + part
            case "swap":
                before, after = after, before
        content = before + part + after
    return content
