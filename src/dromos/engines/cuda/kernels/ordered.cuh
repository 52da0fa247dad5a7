// Vertices settled in the order of a field: near-far. Those whose value is below a threshold are sent from a queue until
// none is left; the others wait as bits in `far`, however often they are improved meanwhile. Then the threshold moves on,
// past empty stretches, by a width that is doubled while a bucket leaves the device idle and halved while it floods it.
#pragma once
#include "stretch.cuh"

#ifndef FEW
#define FEW (1u << 15)     // a bucket of fewer vertices leaves the device idle
#endif
#ifndef MANY
#define MANY (1u << 20)    // one of more floods it
#endif

DEVICE Priority past(Priority low, double width) {
    const double high = (double)low + width;
    const Priority limit = greatest_priority();
    return high < (double)limit ? (Priority)high : limit;
}

struct Order {
    Priority below;  // vertices below this are near
    Priority done;   // vertices below this were settled when the bucket began
    double width;
};

// Whether a bucket takes all that is left: also values that are not below the greatest one, such as infinity.
DEVICE bool is_last(const Order& order) { return !(order.below < greatest_priority()); }

// Send to v, and put it off if it is far then; whether it is near, and has a new value. `look`: before the atomic, which is
// worth it where many fail, and one more access to wait for where frontiers are thin.
DEVICE bool relax(const Arguments& a, const Frame& f, const Order& order, vid u, vid v, eid arc, bool look) {
    if (!(WANTS_ALWAYS || wants_at(a.S, f.K, v))) return false;
    const Weight w = weight_at(a.G.weights, arc);
    if (!(SENDS_ALWAYS || sends_at(a.S, a.E, f.K, u, v, arc, w))) return false;
    const Message message = compute_at(a.S, a.E, f.K, u, v, arc, w);
    if (!improve(a.S, f.K, v, message, look)) return false;
    if ((Priority)message.m0 < order.below) return true;
    if (!look || !has_bit_now(a.W.far, v)) set_bit(a.W.far, v);
    return false;
}

// Whoever improves a vertex marks it for the next round, whether or not it is yet to send in this one. Marks need no
// fence: those that are set here (next_member, far) are cleared only behind a grid barrier, and what they stand for is
// read behind one.
DEVICE void send_near(const Arguments& a, Frame& f, const Order& order, vid* held) {
    Slot* slot = f.slot(a);
    Appender next = Appender::make(held, f.following, &slot->size, &a.G);
    u64 messages = 0;
    const auto visit = [&](bool valid, vid u, vid v, eid arc) {
        const bool fresh = valid && relax(a, f, order, u, v, arc, true) && set_bit(f.next_member, v);
        messages += valid;
        next.add(fresh, v);
    };
    const unsigned share = share_of(f.size);
    for (i64 base = share * (i64)warp_in_grid(); base < f.size; base += share * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool take = lane() < share && i < f.size;
        const vid u = take ? f.queue[i] : (vid)0;
        if (take) clear_bit(f.member, u);
        walk_or_defer(a, slot, take, u, visit);
    }
    if (a.G.max_degree >= BLOCK_ROW) {
        f.barrier(a);
        walk_deferred(a, slot, visit);
    }
    next.flush();
    next.flush_counters(slot);
    add_to_slot(&slot->messages, messages);
}

// Supersteps of thin frontiers: nobody is marked, and who is improved twice is sent twice.
DEVICE Slot send_thin(const Arguments& a, Frame& f, const Order& order, Stretch& stretch) {
    for (i64 i = thread_in_grid(); i < f.size; i += threads_in_grid()) clear_bit(f.member, f.queue[i]);
    return stretch.run(a, f, [&](bool valid, vid u, vid v, eid arc) {
        return valid && relax(a, f, order, u, v, arc, false);
    });
}

// Move those of `far` that are near now into the queue; the least value among the rest is left for the next bucket.
DEVICE void collect(const Arguments& a, Frame& f, const Order& order, Priority* least, unsigned* size, vid* held) {
    Appender near = Appender::make(held, f.queue, size);
    Priority rest = greatest_priority();
    const bool all = is_last(order);
    const i64 words = (a.G.n + 31) >> 5;
    for (i64 base = warp_in_grid() * 32LL; base < words; base += warps_in_grid() * 32LL) {
        const i64 mine = base + lane();
        const unsigned far = mine < words ? a.W.far[mine] : 0;
        for (unsigned busy = __ballot_sync(FULL, far != 0); busy; busy &= busy - 1) {
            const int owner = __ffs(busy) - 1;
            const unsigned bits = __shfl_sync(FULL, far, owner);
            const i64 word = base + owner;
            const vid v = (vid)((word << 5) + lane());
            bool take = false, stay = false;
            if (bits & (1u << lane())) {
                const Priority value = priority_of(a.S, f.K, v);
                const bool near_now = all || value < order.below;
                take = near_now && !(value < order.done);
                stay = !near_now;
                if (stay) rest = lesser(rest, value);
            }
            const unsigned staying = __ballot_sync(FULL, stay), taken = __ballot_sync(FULL, take);
            if (lane() == 0 && staying != bits) a.W.far[word] = staying;
            if (lane() == 0 && taken) f.member[word] |= taken;
            near.add(take, v);
        }
    }
    near.flush();
    for (int step = 16; step > 0; step >>= 1) rest = lesser(rest, __shfl_xor_sync(FULL, rest, step));
    if (lane() == 0 && rest < greatest_priority()) merge_min(least, rest);
}

// Those of a word of `far` who still wait when the kernel leaves behind a bucket. Who became near in that bucket has been
// sent, or is in the queue: the next launch knows no bucket before its own, and would send them all again.
DEVICE unsigned still_far(const Arguments& a, const Frame& f, const Order& order, i64 word) {
    unsigned waiting = a.W.far[word];
    for (unsigned bits = waiting; bits; bits &= bits - 1) {
        const int bit = __ffs(bits) - 1;
        if (priority_of(a.S, f.K, (vid)((word << 5) + bit)) < order.done) waiting &= ~(1u << bit);
    }
    return waiting;
}

// Find the next bucket with someone in it: one pass, or a second one where the first says how far there is to go.
DEVICE void next_bucket(const Arguments& a, Frame& f, Order& order, unsigned& pass, vid* held) {
    f.aim(a);  // not to the log of a stretch
    Priority* least = (Priority*)a.W.buckets;  // three of each, by the number of the pass: filled, read, cleared
    unsigned* sizes = (unsigned*)(least + 3);
    for (;; ++pass) {
        const unsigned now = pass % 3, next = (pass + 1) % 3;
        if (thread_in_grid() == 0) {
            least[next] = greatest_priority();
            sizes[next] = 0;
        }
        collect(a, f, order, least + now, sizes + now, held);
        f.barrier(a);
        f.size = newest(sizes + now);
        const Priority rest = newest(least + now);
        if (f.size || is_last(order)) break;
        order.done = order.below;
        order.below = past(rest, order.width);
        while (!(rest < order.below) && !is_last(order)) order.below = past(rest, order.width *= 2);
    }
    ++pass;
    if (f.size < FEW && order.width * 2 <= a.step.widest) order.width *= 2;
    if (f.size > MANY && order.width >= 2 * a.step.delta) order.width *= 0.5;
}

extern "C" __global__ void __launch_bounds__(BLOCK) run(const Arguments a) {
    __shared__ vid held[WARPS * HELD];
    __shared__ Gathered gathered;
    Stretch stretch = Stretch::make(a, &gathered, held);
    Frame f;
    f.begin(a);
    move_bits(f.member, a.W.far, a.G.n);  // all that waits is far at first
    if (thread_in_grid() == 0) {
        *(Priority*)a.W.buckets = greatest_priority();
        *(unsigned*)((Priority*)a.W.buckets + 3) = 0;
    }
    f.barrier(a);
    Order order = {lowest_priority(), lowest_priority(), a.step.delta};
    Slot now = {};
    unsigned pass = 0;
    for (bool leave = false; !leave;) {
        next_bucket(a, f, order, pass, held);
        if (f.size == 0) break;
        while (f.size && !leave) {
            if (stretch.suits(a, f)) {
                now = send_thin(a, f, order, stretch);
            } else {
                send_near(a, f, order, held);
                f.clear_next_slot(a);
                f.barrier(a);
                now = f.commit(a, false);
            }
            leave = f.must_leave(a, now);
        }
        order.done = order.below;
        order.below = past(order.below, order.width);
    }
    // hand over all that waits: as bits where the queue will be, and in it
    f.barrier(a);
    for (i64 i = thread_in_grid(); i < f.size; i += threads_in_grid()) set_bit(f.member, f.queue[i]);
    f.aim(a);
    f.barrier(a);
    for (i64 word = thread_in_grid(); word < (a.G.n + 31) >> 5; word += threads_in_grid()) {
        f.member[word] |= still_far(a, f, order, word);
        a.W.far[word] = 0;
    }
    unsigned* size = &f.slot(a)->listed;
    f.barrier(a);
    enqueue_bits(f.member, a.G.n, f.queue, size);
    f.barrier(a);
    f.size = newest(size);
    f.report(a, now, false, f.size ? 0 : 1);
}
