// Program bcb22071de212319 for ids int32 and weights float32. Written by Dromos.
#include "state.cuh"
typedef float Weight;
struct Fields { double* f_distance; int* f_parent; };
struct EdgeFields { int nothing; };
struct Merged { double* a0; int* a1; };
struct Context { int superstep; i64 num_vertices; i64 num_arcs; const eid* out_offsets; const eid* in_offsets; const int* ids; i64 p_source; };
struct Message { double m0; int m1; };
struct Reduced { int nothing; };
static const bool VOTE = false;
static const bool SENDS_ALWAYS = true;
static const bool WANTS_ALWAYS = true;
static const bool HAS_SENT = false;
static const bool HAS_EDGE_FIELDS = false;
static const bool HAS_REDUCTIONS = false;
static const bool UPDATE_ALL = false;
static const bool REVISITS = false;
static const bool ALWAYS_ACTIVE = false;
static const bool HAS_WEIGHTS = true;
static const bool CAN_IMPROVE = false;
static const bool ASKS_SOURCE = true;
static const bool WANTS_DECLARED = false;
struct init_result { double r0; int r1; };
DEVICE init_result init(int v_id, i64 p_source) {
    const bool t0 = (convert<i64>(v_id) == p_source);
    return init_result{(t0 ? 0.0 : INFINITE(double)), (t0 ? v_id : -1)};
}
DEVICE init_result init_at(const Fields& S, const Context& K, vid v) {
    return init(given_id(K, v), K.p_source);
}
DEVICE bool init_store(const Fields& D, const Fields& S, const Context& K, vid v) {
    const auto fresh = init_at(S, K, v);
    const bool fits = true;
    D.f_distance[v] = fresh.r0;
    D.f_parent[v] = fresh.r1;
    return fits;
}
DEVICE bool start(int v_id, i64 p_source) {
    return (convert<i64>(v_id) == p_source);
}
DEVICE bool start_at(const Fields& S, const Context& K, vid v) {
    return start(given_id(K, v), K.p_source);
}
DEVICE bool wants() {
    return true;
}
DEVICE bool wants_at(const Fields& S, const Context& K, vid v) {
    return wants();
}
DEVICE bool sends() {
    return true;
}
DEVICE bool sends_at(const Fields& S, const EdgeFields& E, const Context& K, vid u, vid v, eid arc, Weight weight) {
    return sends();
}
DEVICE Message compute(double u_distance, int u_id, float weight) {
    return Message{(u_distance + convert<double>(weight)), u_id};
}
DEVICE Message compute_at(const Fields& S, const EdgeFields& E, const Context& K, vid u, vid v, eid arc, Weight weight) {
    return compute(field(S.f_distance, u), given_id(K, u), weight);
}
DEVICE void sent() {
}
DEVICE void sent_at(const Fields& S, const Context& K, vid v) {
    sent();
}
DEVICE bool sent_store(const Fields& D, const Fields& S, const Context& K, vid v) {
    return true;
}
struct update_result { double r0; int r1; };
DEVICE update_result update(double v_distance, int v_parent, double message__0, int message__1) {
    const bool t0 = (message__0 < v_distance);
    return update_result{(t0 ? message__0 : v_distance), (t0 ? message__1 : v_parent)};
}
DEVICE update_result update_at(const Fields& S, const Context& K, vid v, Message message) {
    return update(field(S.f_distance, v), field(S.f_parent, v), message.m0, message.m1);
}
DEVICE bool update_store(const Fields& D, const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = update_at(S, K, v, message);
    const bool fits = true;
    D.f_distance[v] = fresh.r0;
    D.f_parent[v] = fresh.r1;
    return fits;
}
DEVICE bool active(double old_distance, double new_distance) {
    return (new_distance < old_distance);
}
DEVICE bool active_at(const Fields& O, const Fields& S, const Context& K, vid v) {
    return active(field(O.f_distance, v), field(S.f_distance, v));
}
DEVICE bool converged() {
    return false;
}
DEVICE bool converged_at(const Context& K) {
    return converged();
}
DEVICE bool edge_init_store(const EdgeFields& D, const Fields& S, const EdgeFields& E, const Context& K, vid u, vid v, eid arc, Weight weight) {
    return true;
}
DEVICE bool edge_update_store(const EdgeFields& D, const Fields& S, const EdgeFields& E, const Context& K, vid u, vid v, eid arc, Weight weight) {
    return true;
}
DEVICE bool is_open(const Fields& S, const Context& K, vid v) {
    return true;
}
DEVICE bool claim_store(const Fields& D, const Fields& S, const Context& K, vid v, Message message) {
    return update_store(D, S, K, v, message);
}
DEVICE Message exchange(unsigned lanes, Message m, int step) {
    return Message{(double)__shfl_xor_sync(lanes, m.m0, step), (int)__shfl_xor_sync(lanes, m.m1, step)};
}
DEVICE Message fetch(Message m, unsigned lane) {
    return Message{(double)__shfl_sync(FULL, m.m0, lane), (int)__shfl_sync(FULL, m.m1, lane)};
}
DEVICE Message load_newest(const Merged& A, vid v) {
    return Message{(double)newest(A.a0 + v), (int)newest(A.a1 + v)};
}
DEVICE Message identity() {
    return Message{INFINITE(double), 2147483647};
}
DEVICE Message merge(Message a, Message b) {
    if (b.m0 != a.m0) return b.m0 < a.m0 ? b : a;
    if (b.m1 != a.m1) return b.m1 < a.m1 ? b : a;
    return a;
}
DEVICE Message load_message(const Merged& A, vid v) {
    return Message{(double)A.a0[v], (int)A.a1[v]};
}
DEVICE void store_message(const Merged& A, vid v, Message message) {
    A.a0[v] = message.m0;
    A.a1[v] = message.m1;
}
DEVICE void merge_shared(const Merged& A, unsigned* locks, vid v, Message message) {
    under_lock(locks, v, [&] { store_message(A, v, merge(load_newest(A, v), message)); });
}
DEVICE void save_old(const Fields& D, const Fields& S, vid v) {
    D.f_distance[v] = field(S.f_distance, v);
    D.f_parent[v] = field(S.f_parent, v);
}
DEVICE bool changes(const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = update_at(S, K, v, message);
    return fresh.r0 != field(S.f_distance, v) || fresh.r1 != field(S.f_parent, v);
}
DEVICE Reduced reduce_start() {
    return Reduced{0};
}
DEVICE Reduced reduce_fold(Reduced R, const Fields& O, const Fields& S, const Context& K, vid v) {
    return R;
}
DEVICE Reduced reduce_merge(Reduced a, Reduced b) {
    return a;
}
DEVICE Reduced exchange(Reduced R, int step) {
    return Reduced{0};
}
DEVICE void reduce_show(Context& K, Reduced R) {
}
DEVICE bool improve(const Fields& S, const Context& K, vid v, Message message, bool look) {
    return false;
}
DEVICE void take_delta(const Fields& P, const Fields& S, const Context& K, vid v) {
}
typedef int Priority;
DEVICE Priority priority_of(const Fields& S, const Context& K, vid v) {
    return 0;
}
DEVICE Priority lowest_priority() {
    return (-2147483647 - 1);
}
DEVICE Priority greatest_priority() {
    return 2147483647;
}
