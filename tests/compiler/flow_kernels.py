"""Kernels of loops, branches and variables on whole numbers; Python runs the same functions."""

# mypy: ignore-errors
# ruff: noqa: B007, RET504, RET505, RUF005, SIM108
from __future__ import annotations

from dromos.jit import inline, kernel


@kernel
def after_the_loop(a, b):
    last = -1
    for i in range(a):
        last = i * b
    return last, i if a > 0 else 7


@kernel
def counter_is_changed_inside(a, b):
    total = 0
    for i in range(a):
        total += i
        i = i + b
        total += i
    return total


@kernel
def bounds_are_changed_inside(a, b):
    total = 0
    for i in range(a):
        a = b
        total += a + i
    return total, a


@kernel
def nested_loops(a, b):
    total = 0
    for i in range(a):
        for j in range(b):
            if j > i:
                break
            if (i + j) % 3 == 0:
                continue
            total += 10 * i + j
        else_case = i
        if total > 500:
            break
        total += else_case
    return total


@kernel
def while_with_everything(a, b):
    steps = 0
    while a > 0 or b > 0:
        steps += 1
        if steps > 40:
            break
        if a > b:
            a -= 2
            continue
        b -= 1
        while b > 10 and a < 5:
            b -= 3
            if b % 5 == 0:
                break
    return a, b, steps


@kernel
def endless_with_return(a, b):
    n = 0
    while True:
        n += 1
        if n * n > a:
            return n
        if n > 50:
            return -n


@kernel
def endless_with_break(a, b):
    n = 0
    while True:
        n += 1
        for k in range(n):
            if k > 3:
                break
        if n > a:
            break
    return n, k


@kernel
def returns_in_loops(a, b):
    for i in range(a):
        for j in range(b):
            if i * j == 12:
                return i
            if j > 8:
                return -j
        if i > 6:
            return 100 + i
    return 0


@kernel
def code_behind_a_return(a, b):
    if a > b:
        return 1
        a = 5
    else:
        return 2
        b = 7
    return a + b


@kernel
def code_behind_break_and_continue(a, b):
    n = 0
    for i in range(a):
        if i % 2:
            continue
            n += 1000
        n += i
        if n > b:
            break
            n += 1000
    return n


@kernel
def defined_in_branches(a, b):
    if a > 3:
        x = a
        y = 1
    elif b > 3:
        x = b
        y = 2
    else:
        x = 0
        y = x - 1
    return x * 10 + y


@kernel
def either_or(a, b):
    return a if a > b else b if b > 3 else -1 if a == b else (a - b if a else b)


@kernel
def truths(a, b):
    p = a > 0 and b > 0
    q = a > 0 or b > 0
    r = not p and (q or a == b)
    s = 0 < a < b <= 9
    t = p != q
    return p, q, r, s, t, not a, p + q + r, (p & q) | r, p ^ q


@inline
def counted(value, log):
    log[0] += 1
    return value > 0


@kernel
def only_what_is_needed_is_evaluated(a, b, log):
    if counted(a, log) and counted(b, log):
        log[1] += 1
    if counted(a, log) or counted(b, log):
        log[2] += 1
    if not (counted(a, log) or counted(b, log)) and counted(a, log):
        log[3] += 1
    x = 1 if counted(a, log) else 2 if counted(b, log) else 3
    y = counted(a, log) and counted(b, log)
    while counted(a, log) and log[0] < 40:
        a -= 1
    return x, y


@inline
def early(value, limit):
    if value < 0:
        return 0
    for i in range(limit):
        if i * i > value:
            return i
        value -= 1
    return limit


@inline
def changed(value):
    value += 1
    value = value * 2
    return value


@kernel
def parts_in_loops(a, b):
    total = 0
    for i in range(-2, a):
        total += early(i * b, 5) + early(b, i)
        if early(total, 3) == 2:
            total += changed(i)
    value = b
    total += changed(value)
    return total, value


@kernel
def swaps(a, b):
    c = a + b
    for i in range(5):
        a, b, c = b, c, a + b - c
        (a, (b, c)) = (b, (a, c))
    return a, b, c


@kernel
def tuples_change(a, b):
    pair = (a, b)
    for i in range(4):
        pair = (pair[1], pair[0] + i)
        if pair[0] > pair[1]:
            pair = pair[1], i
    first, second = pair
    same = pair == (a, b), pair == (second, first), pair + (a,) == (first, second, a)
    return pair, first - second, pair + (a,), (pair, (b, pair))[1][1][0], same


@kernel
def ranges(a, b):
    total = 0
    for i in range(a, b):
        total = 3 * total + i
    for i in range(b, a, -1):
        total = total - i
    for i in range(a, b, 3):
        total += i * i
    for i in range(10, -10, -4):
        total ^= i
    step = 2 if a > b else -3
    for i in range(a, b, -step):
        total += 7 * i
    return total


@kernel
def elements(a, b, log):
    log[a % 4] += b
    log[-1] -= a
    log[-2 + a % 2] *= 3
    log[0], log[1] = log[1], log[0]
    i = 1
    log[i], i = 50, 2
    log[i] = log[i - 3] // 2
    total = 0
    for value in log:
        log[3] = value
        total += value
    for value in (a, b, 4):
        total = total * 2 + value
        for other in (value, 1):
            total += other
    return total, value


@kernel
def given_twice_and_returned_early(a, b):
    for part in (a, b):
        return part
    part = 0
    return part


@kernel
def parameters_are_variables(a, b):
    if a > b:
        a = b
        b += 1
    a *= 2
    while a < 20:
        a += b if b > 0 else 3
    return a, b


@kernel
def constants_decide(a, b):
    wide = True
    if wide and a > 2:
        x = 1
    else:
        x = 2
    if not wide:
        x = 100
    if wide or b > 0:
        x += 10
    y = 5 if not wide else 6
    while not wide:
        x = 0
    for i in range(0):
        x = -1
    return x, y


@kernel
def a_truth_becomes_known_late(a, b):
    found = False
    for i in range(a):
        if found:
            return i
        if i == b:
            found = True
    return -1 if not found else -2


@kernel
def nothing_to_return(a, b):
    if a > b:
        return
    for i in range(a):
        if i == b:
            return
