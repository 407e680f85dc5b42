"""Small files that the Find view reads."""

from __future__ import annotations


def pdf(pages: list[list[str]], *, encrypted: bool = False) -> bytes:
    """A PDF file with a text of some lines on each page, which stand two lines' height apart where
    a line is empty. encrypted: as if a password protected it."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for lines in pages:
        shown = "".join(f"({line}) Tj T*\n" if line else "T*\n" for line in lines)
        content = f"BT /F1 12 Tf 14 TL 72 720 Td\n{shown}ET".encode("latin-1")
        kids.append(b"%d 0 R" % (len(objects) + 2))
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    found, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(found)
    found += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    found += b"".join(b"%010d 00000 n \n" % place for place in places)
    more = b""
    if encrypted:
        secret = b"<" + b"ab" * 32 + b">"
        more = b" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O %s /U %s >>" % (secret, secret)
        more += b" /ID [<00> <00>]"
    found += b"trailer\n<< /Size %d /Root 1 0 R%s >>\n" % (len(objects) + 1, more)
    return found + b"startxref\n%d\n%%%%EOF\n" % start


def given(name: str, content: bytes | str) -> dict[str, object]:
    """A file as a test chooses it."""
    buffer = content.encode() if isinstance(content, str) else content
    return {"name": name, "mimeType": "", "buffer": buffer}
