"""Good examples of input, small and varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PROSE: Sequence[str] = (
    "The sanderling runs along the tide line and picks up what each wave uncovers, all winter long.",
    "Ringed birds have been seen on the same stretch of sand for eleven winters in a row.",
    "Day tickets cost 12.50 EUR from 1 March 2026.",
    "Flera förelägganden väntas i vår; se även 東京都の天気 and עברית.",
    "Updated 3 minutes ago · 1,204 views",
)
RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom"
 xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
<channel><title>The shore &amp; the sea</title><link>https://shore.example/</link><ttl>60</ttl>
<atom:link rel="hub" href="https://hub.example/"/><sy:updatePeriod>hourly</sy:updatePeriod>
<skipHours><hour>3</hour></skipHours>
<item><title><![CDATA[High <b>tide</b>]]></title><link>/a?b=1&amp;c=2</link><guid isPermaLink="false">a-1</guid>
<pubDate>Tue, 03 Mar 2026 07:00:00 +0100</pubDate><category>tides</category><dc:creator>Ö. Berg</dc:creator>
<content:encoded><![CDATA[<p>Water at <i>6.2</i> m</p><table><tr><td>1</td></tr></table>]]></content:encoded></item>
<item><title>Low tide</title><guid>https://shore.example/b</guid><description>&lt;p&gt;Sand&lt;/p&gt;</description>
<enclosure url="https://shore.example/b.mp3" type="audio/mpeg" length="1"/></item>
</channel></rss>""".encode()
ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://shore.example/x/">
<title type="html">Shore &lt;i&gt;news&lt;/i&gt;</title><link rel="self" href="feed"/><link rel="next" href="?page=2"/>
<id>urn:uuid:1</id><updated>2026-03-03T07:00:00Z</updated>
<entry><id>tag:shore.example,2026:1</id><title>Ebb</title><link rel="alternate" href="1"/>
<updated>2026-03-03T07:00:00.5+01:00</updated><author><name>Åsa</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One <b>two</b></p></div></content></entry>
<entry><id>2</id><title>Flood</title><summary>rising</summary><category term="Sea"/></entry></feed>""".encode()
RDF = b"""<?xml version="1.0" encoding="iso-8859-1"?><rdf:RDF xmlns="http://purl.org/rss/1.0/"
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><channel rdf:about="https://shore.example/">
<title>caf\xe9</title><link>https://shore.example/</link></channel>
<item rdf:about="https://shore.example/1"><title>One</title><link>https://shore.example/1</link></item></rdf:RDF>"""
JSON_FEED = (
    b'{"version":"https://jsonfeed.org/version/1.1","title":"Shore","home_page_url":"https://shore.example/",'
    b'"hubs":[{"type":"WebSub","url":"https://hub.example/"}],"items":[{"id":"1","url":"/1","title":"One",'
    b'"content_html":"<p>a &amp; b</p>","date_published":"2026-03-03T07:00:00+01:00","tags":["x"],'
    b'"authors":[{"name":"A"}]},{"id":2,"content_text":"two","attachments":[{"mime_type":"audio/ogg"}]}]}'
)
FEEDS: Sequence[bytes] = (RSS, ATOM, RDF, JSON_FEED)
PAGE = (
    '<!DOCTYPE html><html lang="sv"><head><meta charset="utf-8"><title>The shore</title>'
    '<meta property="og:title" content="Shore"><meta name="author" content="Åsa">'
    '<script type="application/ld+json">{"@type":"Article","datePublished":"2026-03-03T07:00:00Z"}</script>'
    '<link rel="alternate" type="application/rss+xml" href="/feed"></head><body><nav><a href="/">Home</a></nav>'
    f"<main><h1>The shore</h1>{''.join(f'<p>{text}</p>' for text in PROSE)}"
    "<ul><li>one</li><li>two</li></ul><table><tr><th>When<th>Price</tr><tr><td>Mon<td>9 EUR</tr></table>"
    '<time datetime="2026-03-03">yesterday</time><details><summary>More</summary>text</details></main>'
    "<footer>© 2026 <select><option>sv</select></footer></body></html>"
).encode()
PLAIN = (
    b"# Notes\n\n- one\n- two\n\nThe third paragraph of a text without mark-up.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
)
PAGES: Sequence[bytes] = (PAGE, PLAIN, b'{"price": 9, "items": ["a", {"b": null}]}', b"when,what\n2026-01-01,a\n", RSS)
_PACKAGE = "application/vnd.openxmlformats-officedocument."
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"
_TYPE = "<Types><Override PartName='/{}' ContentType='" + _PACKAGE + "{}.main+xml'/></Types>"
FILES: Sequence[Mapping[str, str]] = (
    {
        "[Content_Types].xml": _TYPE.format("word/a.xml", "wordprocessingml.document"),
        "word/a.xml": f"<w:document xmlns:w='{_WORD}'><w:body><w:p><w:pPr><w:pStyle w:val='H'/></w:pPr><w:r><w:t>Fees"
        "</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t><w:tab/></w:r><w:del/></w:p><w:tbl><w:tr>"
        "<w:trPr><w:tblHeader/></w:trPr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p><w:r><w:t>Price</w:t></w:r>"
        "</w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>Team</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>"
        "</w:body></w:document>",
        "word/styles.xml": f"<w:styles xmlns:w='{_WORD}'><w:style w:styleId='H'><w:name w:val='heading 1'/></w:style>"
        "<w:style w:styleId='L'><w:pPr><w:outlineLvl w:val='2'/></w:pPr></w:style></w:styles>",
    },
    {
        "[Content_Types].xml": _TYPE.format("xl/b.xml", "spreadsheetml.sheet"),
        "xl/b.xml": "<workbook><workbookPr date1904='1'/><sheets><sheet name='Å' id='r1'/></sheets></workbook>",
        "xl/_rels/b.xml.rels": "<Relationships><Relationship Id='r1' Target='/xl/s.xml'/></Relationships>",
        "xl/s.xml": "<worksheet><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c><c r='C1' t='str'><v>x</v></c></row>"
        "<row r='9'><c r='A9' s='1'><v>46082.5</v></c><c r='B9' s='2'><v>0.125</v></c><c t='b'><v>1</v></c>"
        "<c t='inlineStr'><is><r><t>in</t></r></is></c><c><v>1e300</v></c></row></sheetData></worksheet>",
        "xl/styles.xml": "<styleSheet><numFmts><numFmt numFmtId='170' formatCode='[h]:mm'/></numFmts><cellXfs>"
        "<xf numFmtId='14'/><xf numFmtId='170'/><xf numFmtId='9'/></cellXfs></styleSheet>",
        "xl/sharedStrings.xml": "<sst><si><t>Plan</t></si><si><r><t>a</t></r><rPh><t>b</t></rPh></si></sst>",
    },
    *(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<o:d xmlns:o='{_OPEN}:office:1.0' xmlns:t='{_OPEN}:table:1.0' xmlns:x='{_OPEN}:text:1.0'>"
            f"<o:body><o:{kind}><x:h x:outline-level='1'>Notes</x:h><x:list><x:list-item><x:p>one<x:s/>two</x:p>"
            "</x:list-item></x:list><t:table t:name='T'><t:table-header-rows><t:table-row><t:table-cell><x:p>Plan</x:p>"
            "</t:table-cell></t:table-row></t:table-header-rows><t:table-row t:number-rows-repeated='99'>"
            "<t:table-cell t:number-columns-repeated='3'><x:p>9 EUR</x:p></t:table-cell></t:table-row></t:table>"
            f"</o:{kind}></o:body></o:d>",
            "META-INF/manifest.xml": "<manifest/>",
        }
        for kind in ("text", "spreadsheet")
    ),
)
"""Parts of office files by name."""
MARKUP: Sequence[str] = (
    "<p>{}</p>",
    "<div>{}</div>",
    "<li>{}</li>",
    "<h2>{}</h2>",
    "<td>{}</td>",
    "<tr><td>{}</td><td>x</td></tr>",
    "<b>{}</b>",
    "<a href='/x'>{}</a>",
    "<pre>{}</pre>",
    "<span style='display:none'>{}</span>",
    "<aside>{}</aside>",
    "{}<br>",
    "<table>{}",
    "<section><h3>t</h3>{}</section>",
    "<svg><text>{}</text></svg>",
    "<template>{}</template>",
    "<select><option>{}",
    "{}",
)
CONTENT_TYPES: Sequence[str] = (
    "text/html",
    "text/html; charset=utf-8",
    "application/rss+xml",
    "text/xml; charset=iso-8859-1",
    "application/json",
    "",
    "text/plain; charset=utf-16",
    'text/html; charset="gb18030"',
    "image/png",
    "text/html; charset=utf-7; charset=x",
)
OUTLINE = (
    b'<?xml version="1.0"?><opml version="2.0"><head><title>Mine</title></head><body><outline text="Harbour">'
    b'<outline text="Tides" type="rss" xmlUrl="https://tides.example/feed.xml" category="/a/b,c"/></outline>'
    b'<outline type="include" url="https://x.example/o.opml"/></body></opml>'
)
FRAMES: Sequence[str] = (
    '{"id": 7, "title": "A", "url": "/a", "content": "<p>b</p>", "published_at": 1772520000, "tags": ["x"]}',
    '{"event": {"message": {"text": "hello"}, "ts": "2026-03-03T07:00:00Z"}, "type": "new"}',
    "plain words",
    "<b>marked</b> words",
    "[1, 2, 3]",
    '{"data": {"data": {"data": 1}}, "user": {"login": "a"}}',
)
URLS: Sequence[str] = (
    "https://shore.example/a/b?c=d#e",
    "HTTP://EXAMPLE.com:080/",
    "http://[2606:4700::1111]:8443/",
    "wss://a.example/x",
    "http://bücher.example/ä?ö",
    "http://xn--bcher-kva.example/",
    "http://1.2.3.4/",
    "http://0x7f.1/",
    "http://a.b.c.d.e/..",
    "https://user:pw@shore.example/",
    "http://127.0.0.1:8080/",
    "http://[::ffff:10.0.0.1]/",
    "http://localhost./%2e%2e/",
    "http://２１３.example/",
    "//shore.example/x",
    "/x/../y",
    "?q",
    "feed:https://a.example/",
    "javascript:alert(1)",
)
ROBOTS: Sequence[str] = (
    "User-agent: *\nDisallow: /private\nAllow: /private/open$\nCrawl-delay: 2\n\n"
    "User-agent: sanderling\nDisallow: /no*x\n",
    "# none\r\nuser-agent: a\r\nuser-agent: b\r\nDisallow: /\r\nSitemap: https://shore.example/map.xml\r\n",
    "User-Agent: Sanderling/2.0\nAllow: /\nDisallow: /ä%C3%A4?*\nRequest-rate: 1/5\n",
)
