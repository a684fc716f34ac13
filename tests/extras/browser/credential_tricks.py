"""Ways for a page's frames, workers and redirects to pose as the source that embeds them.

Each trick is a snippet of a page from another origin. `u` is a URL on the source's own origin; its path names the
trick, so that a request shows which trick sent it. `t` is a page elsewhere that redirects to `u`.
"""

from __future__ import annotations

from collections.abc import Mapping

MARKUP = {
    "img": "<img src='{u}'>",
    "img-unnamed": "<img referrerpolicy=no-referrer src='{u}'>",
    "script": "<script src='{u}'></script>",
    "module": "<script type=module src='{u}'></script>",
    "stylesheet": "<link rel=stylesheet href='{u}'>",
    "preload": "<link rel=preload as=fetch crossorigin=use-credentials href='{u}'>",
    "prefetch": "<link rel=prefetch href='{u}'>",
    "css-background": "<style>#bg{{background:url('{u}')}}</style><div id=bg>x</div>",
    "video": "<video src='{u}' autoplay muted></video>",
    "svg-image": "<svg><image href='{u}'/></svg>",
    "iframe": "<iframe src='{u}'></iframe>",
    "iframe-unnamed": "<iframe referrerpolicy=no-referrer src='{u}'></iframe>",
    "iframe-sandboxed": "<iframe sandbox src='{u}'></iframe>",
    "object": "<object data='{u}' type='text/html'></object>",
    "embed": "<embed src='{u}' type='text/html'>",
    "srcdoc": "<iframe srcdoc=\"<script>fetch('{u}',{{mode:'no-cors',credentials:'include'}})</script>\"></iframe>",
    "data-frame": '<iframe src="data:text/html,'
    "<script>fetch('{u}',{{mode:'no-cors',credentials:'include'}})</script>\"></iframe>",
    "form-get": "<form id=fg action='{u}' target=fgt></form><iframe name=fgt></iframe><script>fg.submit()</script>",
    "form-post": "<form id=fp method=post action='{u}' target=fpt></form><iframe name=fpt></iframe>"
    "<script>fp.submit()</script>",
    "form-blank": "<form id=fb method=post action='{u}' target=_blank></form><script>fb.submit()</script>",
    "redirected-img": "<img src='{t}'>",
    "redirected-frame": "<iframe src='{t}'></iframe>",
    "self-leaving": "<iframe srcdoc=\"<script>location='{u}'</script>\"></iframe>",
}
SCRIPT = {
    "fetch": "fetch('{u}',{{mode:'no-cors',credentials:'include'}})",
    "fetch-unnamed": "fetch('{u}',{{mode:'no-cors',credentials:'include',referrerPolicy:'no-referrer'}})",
    "fetch-post": "fetch('{u}',{{mode:'no-cors',method:'POST',body:'x',credentials:'include'}})",
    "fetch-keepalive": "fetch('{u}',{{mode:'no-cors',keepalive:true,method:'POST',body:'x',credentials:'include'}})",
    "fetch-cors": "fetch('{u}',{{credentials:'include'}})",
    "fetch-preflight": "fetch('{u}',{{method:'PUT',credentials:'include'}})",
    "xhr": "x=new XMLHttpRequest();x.withCredentials=true;x.open('GET','{u}');x.send()",
    "xhr-post": "x=new XMLHttpRequest();x.withCredentials=true;x.open('POST','{u}');x.send('x')",
    "beacon": "navigator.sendBeacon('{u}','x')",
    "eventsource": "new EventSource('{u}',{{withCredentials:true}})",
    "import": "import('{u}')",
    "redirected-fetch": "fetch('{t}',{{mode:'no-cors',credentials:'include'}})",
    "redirected-post": "fetch('{t7}',{{mode:'no-cors',method:'POST',body:'x',credentials:'include'}})",
    "worker": "new Worker(URL.createObjectURL(new Blob([\"fetch('{u}',{{mode:'no-cors',credentials:'include'}})\"])))",
    "data-worker": "new Worker('data:text/javascript,'+encodeURIComponent("
    "\"fetch('{u}',{{mode:'no-cors',credentials:'include'}})\"))",
    "blank-frame": "f=document.createElement('iframe');document.body.append(f);"
    "f.contentWindow.fetch('{u}',{{mode:'no-cors',credentials:'include'}})",
    "blob-frame": "f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob("
    "[\"<script>fetch('{u}',{{mode:'no-cors',credentials:'include'}})<\"+\"/script>\"],{{type:'text/html'}}));"
    "document.body.append(f)",
    "popup": "window.open('{u}')",
}
_OF_STRANGERS = {
    "websocket": "new WebSocket('{u}'.replace('http','ws'))",
    "shared-worker": "new SharedWorker('data:text/javascript,'+encodeURIComponent("
    "\"fetch('{u}',{{mode:'no-cors',credentials:'include'}})\"))",
}
"""The browser alone decides these, and it treats a neighbour on the same site as no stranger."""
CLOSED = frozenset({"form-blank", "popup"})
"""Tricks that send no request."""
_OF_OWN = ("redirected-img", "redirected-frame", "redirected-fetch", "redirected-post", "data-worker", "data-frame")
"""Snippets of the source's own page that must not get its credentials either."""
STRANGER, NEIGHBOUR, OWN = "b.test", "c.site.test", "site.test"
TRICKS = {
    STRANGER: (*MARKUP, *SCRIPT, *_OF_STRANGERS),
    NEIGHBOUR: (*MARKUP, *SCRIPT),
    OWN: _OF_OWN,
}


def page(host: str, port: int) -> str:
    """Return a host's page with all its tricks; each requests `host.trick` from the source's origin."""
    found = []
    for name in TRICKS[host]:
        u = f"http://{OWN}:{port}/{host}.{name}"
        by = f"http://{STRANGER}:{port}/to"
        places: Mapping[str, str] = {"u": u, "t": f"{by}?302={u}", "t7": f"{by}?307={u}"}
        if name in MARKUP:
            found.append(MARKUP[name].format(**places))
        else:
            script = (SCRIPT | _OF_STRANGERS)[name].format(**places)
            found.append(f"<script>try{{(()=>{{let x,f;{script}}})()}}catch(e){{}}</script>")
    return f"<!doctype html><title>{host}</title><body><p>hello</p>{''.join(found)}"


def expected() -> frozenset[str]:
    """Return the paths requested when every trick works."""
    return frozenset(f"/{host}.{name}" for host, names in TRICKS.items() for name in names if name not in CLOSED)
