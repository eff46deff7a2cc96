"""Tells the rows of op_compare.py: a table, a JSON file, a plot of the sorted ratios."""

import json
import math
import shlex
import statistics
import sys
from xml.sax.saxutils import escape

COLORS = {"f32": "#3a76b0", "f64": "#222222", "bf16": "#e0803a", "f16": "#b03a6a"}
OTHER_COLOR = "#5a9a4a"
MOST = 1.2  # ratios above are counted: what docs/log/kernels.md has to explain
NAMED = 30  # longer lists of operations are cut


def label(row):
    return (f"{row['operation']}/{row['case']} {row['dtype']} {row['pass']} {row['layout']} "
            f"{row['threads']}t")


def group_of(row):
    return row["dtype"], row["pass"], row["layout"], row["threads"]


def format_report(rows, reasons):
    """Rows (sorted, the worst first), what they come to, and what has no row."""
    lines = [f"{'operation/case':44} {'dtype':5} {'pass':8} {'layout':10} {'threads':>7} "
             f"{'Firn ms':>9} {'peer ms':>9}  ratio (95 %)"]
    for row in rows:
        low, high = row["_interval"]
        lines.append(f"{row['operation'] + '/' + row['case']:44} {row['dtype']:5} {row['pass']:8} "
                     f"{row['layout']:10} {row['threads']:7} {row['firn_ms']:9.4f} "
                     f"{row['peer_ms']:9.4f}  {row['ratio']:.2f} ({low:.2f}..{high:.2f})")
        lines += [f"      {percent:3.0f} % {function}"
                  for percent, function in row.get("profile", [])]
    lines += format_groups(rows)
    for reason, what in reasons.items():
        names = list(dict.fromkeys(what))
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        lines.append(f"skipped: {reason}: {', '.join(names[:NAMED])}{more}")
    return "\n".join(lines)


def format_groups(rows):
    """One line for each dtype, pass, layout and number of threads."""
    groups = {}
    for row in rows:
        groups.setdefault(group_of(row), []).append(row["ratio"])
    return [f"{' '.join(map(str, group[:3]))}, {group[3]} threads: {len(ratios)} rows, median ratio "
            f"{statistics.median(ratios):.2f}, {sum(r > MOST for r in ratios)} above {MOST}"
            for group, ratios in sorted(groups.items(), key=str)]


def write_json(path, rows, reasons, about):
    public = [{key: value for key, value in row.items() if not key.startswith("_")} for row in rows]
    skipped = [{"reason": reason, "what": list(dict.fromkeys(what))}
               for reason, what in reasons.items()]
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"machine": about, "command": shlex.join(sys.argv), "rows": public,
                   "skipped": skipped}, out, indent=1)
        out.write("\n")


WIDTH, HEIGHT, LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 1000, 640, 70, 70, 900, 520


def text_at(x, y, style, text):
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def format_plot(rows, about):
    """A dot a row from the worst to the best, ratios on a logarithmic axis; tooltips name them."""
    extreme = max([2.0] + [max(row["ratio"], 1 / row["ratio"]) for row in rows])
    top = math.ceil(math.log2(extreme))

    def y_of(ratio):
        return TOP + PLOT_HEIGHT * (0.5 - math.log2(ratio) / (2 * top))

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>',
             text_at(20, 26, 'font-size="17"', "Time of Firn over time of PyTorch, by operation"),
             text_at(20, 46, "",
                     f"{about['cpu']}, {about['cores']} cores. Below 1, Firn is faster.")]
    for power in range(-top, top + 1):
        y, name = y_of(2.0**power), f"{2**power}" if power >= 0 else f"1/{2**-power}"
        parts.append(f'<path d="M{LEFT} {y:.1f} H{LEFT + PLOT_WIDTH}" '
                     f'stroke="{"#222" if power == 0 else "#ddd"}"/>')
        parts.append(text_at(LEFT - 8, y + 4, 'text-anchor="end"', name))
    for index, row in enumerate(rows):
        x = LEFT + PLOT_WIDTH * (index + 0.5) / len(rows)
        color = COLORS.get(row["dtype"], OTHER_COLOR)
        fill = color if row["pass"] == "forward" else "white"
        parts.append(f'<circle cx="{x:.1f}" cy="{y_of(row["ratio"]):.1f}" r="3" stroke="{color}" '
                     f'fill="{fill}"><title>{escape(label(row))}: {row["ratio"]:.2f}</title>'
                     '</circle>')
    legend = LEFT
    for dtype, color in [*COLORS.items(), ("others", OTHER_COLOR)]:
        parts.append(f'<circle cx="{legend}" cy="{HEIGHT - 22}" r="4" fill="{color}"/>')
        parts.append(text_at(legend + 8, HEIGHT - 18, "", dtype))
        legend += 70
    parts.append(text_at(legend, HEIGHT - 18, "", "filled: forward, open: backward"))
    return "\n".join(parts + ["</svg>", ""])


def write_plot(path, rows, about):
    with open(path, "w", encoding="utf-8") as out:
        out.write(format_plot(rows, about))
