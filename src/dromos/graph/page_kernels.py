"""The compiled loop that cuts rows into pages."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from dromos.jit import kernel

SMALL, LARGE = 0, 1


@kernel
def cut_pages(
    thread, num_threads, offsets, capacity, max_vertices, first_vertex, last_vertex, arc_begin, arc_end, kind, total
):  # fmt: skip
    """Fill the columns of the page table, or only count the pages where they are empty; for a single thread.

    The end of a small page is found by bisection of the offsets, so the work grows with the pages, not the vertices.
    """
    count = offsets.size - 1
    fill = kind.size > 0
    page = 0
    v = 0
    while v < count:
        begin, end = offsets[v], offsets[v + 1]
        if end - begin > capacity:
            while begin < end:
                piece = min(end, begin + capacity)
                if fill:
                    first_vertex[page] = v
                    last_vertex[page] = v
                    arc_begin[page] = begin
                    arc_end[page] = piece
                    kind[page] = LARGE
                page += 1
                begin = piece
            v += 1
            continue
        low, high = v + 1, min(count, v + max_vertices)  # the page surely holds v..low, and never beyond high
        while low < high:
            middle = (low + high + 1) // 2
            if offsets[middle] - begin <= capacity:
                low = middle
            else:
                high = middle - 1
        if fill:
            first_vertex[page] = v
            last_vertex[page] = low - 1
            arc_begin[page] = begin
            arc_end[page] = offsets[low]
            kind[page] = SMALL
        page += 1
        v = low
    total[0] = page
