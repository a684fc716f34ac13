"""Ways out of a page: each trick tries to reach a canary that must stay unreachable.

A trick is a snippet of a page. `u` is a URL of the canary whose path names the trick, so that a hit shows which trick
sent it; tricks without a path have their own `PORT`. Several scripts try each spelling of an address, because
different parts of a browser parse it: `v6-mapped.websocket`.
"""

from __future__ import annotations

from collections.abc import Mapping

_MARKUP = {
    "img": "<img src='{u}'>",
    "img-srcset": "<img srcset='{u} 2x, {u} 1x'>",
    "picture": "<picture><source srcset='{u}'><img src='data:,x'></picture>",
    "iframe": "<iframe src='{u}'></iframe>",
    "iframe-sandboxed": "<iframe sandbox='allow-scripts' src='{u}'></iframe>",
    "iframe-srcdoc": "<iframe srcdoc=\"<img src='{u}'>\"></iframe>",
    "iframe-data": "<iframe src=\"data:text/html,<img src='{u}'>\"></iframe>",
    "iframe-script": "<iframe src=\"javascript:'<img src={u}>'\"></iframe>",
    "object": "<object data='{u}' type='text/html'></object>",
    "embed": "<embed src='{u}' type='text/html'>",
    "video": "<video src='{u}' autoplay muted></video>",
    "poster": "<video poster='{u}'></video>",
    "audio": "<audio src='{u}' autoplay></audio>",
    "script": "<script src='{u}'></script>",
    "module": "<script type=module src='{u}'></script>",
    "stylesheet": "<link rel=stylesheet href='{u}'>",
    "css-import": "<style>@import url('{u}');</style>",
    "css-background": "<style>#bg{{background:url('{u}')}}</style><div id=bg>x</div>",
    "css-font": "<style>@font-face{{font-family:f;src:url('{u}')}}#f{{font-family:f}}</style><p id=f>x</p>",
    "css-image-set": "<style>#is{{background:image-set('{u}' 1x)}}</style><div id=is>x</div>",
    "preload": "<link rel=preload as=fetch crossorigin href='{u}'>",
    "modulepreload": "<link rel=modulepreload href='{u}'>",
    "prefetch": "<link rel=prefetch href='{u}'>",
    "svg-image": "<svg><image href='{u}'/></svg>",
    "svg-feimage": "<svg><filter id=fe><feImage href='{u}'/></filter><rect filter='url(#fe)' width=9 height=9 /></svg>",
    "input-image": "<input type=image src='{u}'>",
    "body-background": "<table background='{u}'><tr><td>x</table>",
    "form-get": "<form id=fg action='{u}' target=fgt></form><iframe name=fgt></iframe><script>fg.submit()</script>",
    "form-post": "<form id=fp method=post action='{u}' target=fpt></form><iframe name=fpt></iframe>"
    "<script>fp.submit()</script>",
    "document-write": "<script>document.write(\"<img src='{u}'>\")</script>",
    "speculation": "<script type=speculationrules>"
    '{{"prefetch":[{{"source":"list","urls":["{u}"],"eagerness":"immediate"}}]}}</script>',
}
_SCRIPT = {
    "fetch": "fetch('{u}',{{mode:'no-cors'}})",
    "fetch-keepalive": "fetch('{u}',{{mode:'no-cors',keepalive:true}})",
    "fetch-post": "fetch('{u}',{{mode:'no-cors',method:'POST',body:'x'}})",
    "fetch-cors": "fetch('{u}',{{headers:{{'X-A':'1'}}}})",
    "xhr": "x=new XMLHttpRequest();x.open('GET','{u}');x.send()",
    "xhr-post": "x=new XMLHttpRequest();x.open('POST','{u}');x.send('x')",
    "beacon": "navigator.sendBeacon('{u}','x')",
    "websocket": "new WebSocket('{u}'.replace('http','ws'))",
    "eventsource": "new EventSource('{u}')",
    "image": "new Image().src='{u}'",
    "audio-object": "new Audio('{u}').load()",
    "import": "import('{u}')",
    "font-face": "new FontFace('q','url({u})').load()",
    "cache-add": "caches.open('c').then(c=>c.add(new Request('{u}',{{mode:'no-cors'}})))",
    "worker-fetch": "new Worker(URL.createObjectURL(new Blob([\"fetch('{u}',{{mode:'no-cors'}})\"])))",
    "worker-import": "new Worker(URL.createObjectURL(new Blob([\"importScripts('{u}')\"])))",
    "worker-websocket": "new Worker(URL.createObjectURL(new Blob([\"new WebSocket('{u}'.replace('http','ws'))\"])))",
    "shared-worker": "new SharedWorker(URL.createObjectURL(new Blob([\"fetch('{u}',{{mode:'no-cors'}})\"])))",
    "blob-frame": "f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob([\"<img src='{u}'>\"],"
    "{{type:'text/html'}}));document.body.append(f)",
    "paint-worklet": "CSS.paintWorklet.addModule('{u}')",
    "audio-worklet": "new OfflineAudioContext(1,1,44100).audioWorklet.addModule('{u}')",
    "frame-navigation": "f=document.createElement('iframe');document.body.append(f);f.contentWindow.location='{u}'",
    "window-open": "window.open('{u}')",
    "click-ping": "a=document.createElement('a');a.href='#';a.ping='{u}';document.body.append(a);a.click()",
    "click-blank": "a=document.createElement('a');a.href='{u}';a.target='_blank';document.body.append(a);a.click()",
    "service-worker": "navigator.serviceWorker.register('/sw.js?to={u}')",
    "redirect-fetch": "fetch('/to?302={u}',{{mode:'no-cors'}})",
    "redirect-307": "fetch('/to?307={u}',{{mode:'no-cors',method:'POST',body:'x'}})",
    "redirect-image": "new Image().src='/to?301={u}'",
    "redirect-frame": "f=document.createElement('iframe');f.src='/to?308={u}';document.body.append(f)",
    "redirect-eventsource": "new EventSource('/to?302={u}')",
    "redirect-worker": "new Worker(URL.createObjectURL(new Blob([\"fetch(location.origin.replace('null','')+"
    "'/to?302={u}',{{mode:'no-cors'}})\"])))",
}
_SPELLED = {
    "v6": "[::1]:PORT",
    "v6-mapped": "[::ffff:127.0.0.1]:PORT",
    "v6-mapped-hex": "[::ffff:7f00:1]:PORT",
    "decimal": "2130706433:PORT",
    "hexadecimal": "0x7f000001:PORT",
    "octal": "0177.0.0.1:PORT",
    "mixed-bases": "0x7f.0.0.01:PORT",
    "short": "127.1:PORT",
    "zero": "0:PORT",
    "any": "0.0.0.0:PORT",
    "full-width": "１２７.0.0.1:PORT",
    "localhost": "localhost:PORT",
    "localhost-dot": "localhost.:PORT",
    "localhost-below": "a.localhost:PORT",
    "name": "inside.test:PORT",
    "name-dot": "inside.test.:PORT",
    "name-mixed": "mixed.test:PORT",
    "name-rebound": "rebound.test:PORT",
}
_SPELLED_BY = (
    *("fetch", "fetch-post", "xhr", "image", "websocket", "eventsource", "beacon", "audio-object", "import"),
    *("worker-fetch", "worker-import", "worker-websocket", "frame-navigation", "blob-frame"),
    *("redirect-fetch", "redirect-image", "redirect-frame"),
)
"""The scripts that try each spelling."""
_LEAVING = {
    "location": "<script>location='{u}'</script>",
    "location-replace": "<script>location.replace('{u}')</script>",
    "meta-refresh": "<meta http-equiv=refresh content='0;url={u}'>",
    "form-leaving": "<form id=l action='{u}'></form><script>l.submit()</script>",
    "click-leaving": "<a id=l href='{u}'>x</a><script>l.click()</script>",
    "redirect-leaving": "<script>location='/to?302={u}'</script>",
    "download-leaving": "<a id=l href='{u}' download=x>x</a><script>l.click()</script>",
    "user-leaving": "<script>location='{u}'.replace('//','//site.test@')</script>",
    "history-leaving": "<script>history.pushState(0,'','/x');setTimeout(()=>location.assign('{u}'),50)</script>",
    "top-from-frame": "<iframe srcdoc=\"<script>top.location='{u}'</script>\"></iframe>",
}
_OF_PORTS = {
    "preconnect": "<link rel=preconnect href='http://127.0.0.1:PORT'>",
    "turn-tcp": "<script>rtc({{urls:'turn:127.0.0.1:PORT?transport=tcp',username:'a',credential:'b'}})</script>",
    "turns": "<script>rtc({{urls:'turns:127.0.0.1:PORT',username:'a',credential:'b'}})</script>",
}
_OF_DATAGRAMS = {
    "stun": "<script>rtc({{urls:'stun:127.0.0.1:PORT'}})</script>",
    "turn-udp": "<script>rtc({{urls:'turn:127.0.0.1:PORT',username:'a',credential:'b'}})</script>",
    "web-transport": "<script>new WebTransport('https://127.0.0.1:PORT/')</script>",
}
_RTC = (
    "<script>function rtc(s){const p=new RTCPeerConnection({iceServers:[s]});p.createDataChannel('x');"
    "p.createOffer().then(o=>p.setLocalDescription(o))}addEventListener('unhandledrejection',e=>e.preventDefault())</script>"
)

STREAM_PORTS = tuple(_OF_PORTS)
DATAGRAM_PORTS = tuple(_OF_DATAGRAMS)
_SPELLINGS = tuple(f"{spelled}.{way}" for way in _SPELLED_BY for spelled in _SPELLED)
NAMES = (*_MARKUP, *_SCRIPT, *_SPELLINGS, *_LEAVING, *STREAM_PORTS, *DATAGRAM_PORTS)
STAYING = ("markup", "scripts", "ports", *(f"by-{way}" for way in _SPELLED_BY))
"""Pages that stay in the tab after their tricks ran."""


def pages(canary: str, port: int, ports: Mapping[str, int]) -> Mapping[str, str]:
    """Return the pages by name: all markup, all scripts, one for each script that tries spellings, one for each way to
    leave.
    """

    def at(name: str, host: str = canary) -> str:
        return f"http://{host}/{name}"

    markup = "".join(text.format(u=at(name)) for name, text in _MARKUP.items())
    tried = [_tried(text.format(u=at(name))) for name, text in _SCRIPT.items()]
    spelled = {
        f"by-{way}": "".join(
            _tried(_SCRIPT[way].format(u=at(f"{name}.{way}", host.replace("PORT", str(port)))))
            for name, host in _SPELLED.items()
        )
        for way in _SPELLED_BY
    }
    placed = "".join(
        text.format().replace("PORT", str(ports[name])) for name, text in (_OF_PORTS | _OF_DATAGRAMS).items()
    )
    found = {
        "markup": markup,
        "scripts": f"<script>{''.join(tried)}</script>",
        "ports": _RTC + placed,
    }
    found |= {name: f"<script>{text}</script>" for name, text in spelled.items()}
    found |= {name: text.format(u=at(name)) for name, text in _LEAVING.items()}
    return {name: f"<!doctype html><title>{name}</title><body><p>hello</p>{text}" for name, text in found.items()}


def _tried(script: str) -> str:
    """Isolate a script: its errors stop no other, and its variables stay local."""
    if "=" in script.partition("(")[0]:
        return f"try{{let x,a,f;{script}}}catch(e){{}}\n"
    return f"try{{let r={script};r&&r.catch&&r.catch(()=>0)}}catch(e){{}}\n"
