#ifndef FIRN_TOOLS_FIRN_MONITOR_STYLE_H_
#define FIRN_TOOLS_FIRN_MONITOR_STYLE_H_

namespace firn::cli {

// How the page looks. The classes c0 to c5, pale, frame, grid, paper and hint are those of
// io/monitors' plots, d0 to d5 the dashes of their lines.
inline constexpr char kStyle[] = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1c2024;--dim:#59626c;--line:#d9dee3;
--grid:#e6e9ec;--frame:#6b7480;--accent:#0072b2;--c0:#0072b2;--c1:#c75300;--c2:#00855f;--c3:#b3508a;
--c4:#a86f00;--c5:#2f86b8;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#14171a;--card:#1d2125;--text:#e6e9ec;--dim:#a3adb8;
--line:#343a40;--grid:#2c3238;--frame:#8b95a1;--accent:#5cb3ea;--c0:#5cb3ea;--c1:#ff9a52;--c2:#3fcf9f;
--c3:#ec9ccb;--c4:#f0b93f;--c5:#a3d8f7;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif;
overflow-wrap:anywhere}
header,main,footer{max-width:100rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.5rem}
h1{font-size:1.5rem;line-height:1.25;margin:0}
h2{font-size:1.1rem;margin:2rem 0 .75rem}
h3{font-size:.95rem;margin:0 0 .5rem;font-weight:600}
bdi{unicode-bidi:isolate}
p{margin:.25rem 0}
.dim,footer{color:var(--dim);font-size:.85rem}
footer{padding-top:2rem;padding-bottom:2rem}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin-top:.75rem}
a{color:var(--accent)}
.grid-of-cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),1fr))}
.card{margin:0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.9rem;
min-width:0}
.wide{grid-column:1/-1}
svg{display:block;max-width:100%;height:auto}
.card svg text{fill:var(--dim);stroke:none}
.paper{fill:none}
.frame{stroke:var(--frame);fill:none}
.grid{stroke:var(--grid);fill:none}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}
.c5{stroke:var(--c5)}
.pale{stroke-opacity:.3}
.hint:hover{fill:var(--text);fill-opacity:.12}
.hill{fill:var(--c0);fill-opacity:.55;stroke:var(--card);stroke-width:1}
.hill:hover{fill-opacity:.9}
.legend{list-style:none;margin:.5rem 0 0;padding:0;font-size:.85rem;max-height:12rem;overflow:auto}
.legend li{display:flex;gap:.5rem;align-items:baseline}
.legend .numbers{color:var(--dim);margin-left:auto;text-align:right;font-variant-numeric:tabular-nums}
.key{flex:none;width:2rem;height:.2rem;align-self:center;background:repeating-linear-gradient(90deg,
currentColor 0 var(--a),transparent 0 var(--b),currentColor 0 var(--d),transparent 0 var(--e));
--a:1rem;--b:1rem;--d:1rem;--e:1rem}
.key.c0{color:var(--c0)}.key.c1{color:var(--c1)}.key.c2{color:var(--c2)}
.key.c3{color:var(--c3)}.key.c4{color:var(--c4)}.key.c5{color:var(--c5)}
.d1{--a:.5rem;--b:.75rem;--d:.75rem;--e:.75rem}.d2{--a:.15rem;--b:.4rem;--d:.4rem;--e:.4rem}
.d3{--a:.75rem;--b:1rem;--d:1.15rem;--e:1.4rem}.d4{--a:.4rem;--b:.6rem;--d:.75rem;--e:.95rem}
.d5{--a:.15rem;--b:.35rem;--d:.5rem;--e:1rem}
.pictures{display:flex;flex-wrap:wrap;gap:.75rem}
.pictures figure{margin:0;max-width:100%}
.pictures figcaption{color:var(--dim);font-size:.8rem}
.pictures img{display:block;min-width:4rem;max-width:100%;max-height:30rem;image-rendering:pixelated;
background:#fff;border:1px solid var(--line)}
pre{white-space:pre-wrap;max-height:24rem;overflow:auto;margin:0;font-size:.85rem}
.scroll{overflow:auto;max-height:48rem}
.scroll svg{max-width:none;margin:0 auto}
.edge{fill:none;stroke:var(--frame);stroke-opacity:.6}
.node rect{fill:var(--page);stroke:var(--frame)}
.group rect{stroke-width:2;stroke:var(--accent)}
.card .node text{fill:var(--text)}
.problems{color:var(--bad)}
)css";

// The SHA-256 of kStyle, by which the page's policy allows it; monitor_page_test tells what it must
// be.
inline constexpr char kStyleHash[] = "sha256-UgPY+tABIlp6sUxtLGZD+amkCdEKsii3hUjxJiiKu8E=";

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_STYLE_H_
