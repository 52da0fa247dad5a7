// Program a2123161150bb9df for ids int32 and weights int32. Written by Dromos.
#include "state.cuh"
typedef int Weight;
struct Fields { int* f_distance; };
struct EdgeFields { int nothing; };
struct Merged { int* a0; };
struct Context { int superstep; i64 num_vertices; i64 num_arcs; const eid* out_offsets; const eid* in_offsets; const int* ids; i64 p_source; };
struct Message { int m0; };
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
static const bool CAN_IMPROVE = true;
static const bool ASKS_SOURCE = true;
static const bool WANTS_DECLARED = false;
DEVICE int init(int v_id, i64 p_source) {
    return convert<int>(((convert<i64>(v_id) == p_source) ? 0LL : 2147483647LL));
}
DEVICE int init_at(const Fields& S, const Context& K, vid v) {
    return init(given_id(K, v), K.p_source);
}
DEVICE bool init_store(const Fields& D, const Fields& S, const Context& K, vid v) {
    const auto fresh = init_at(S, K, v);
    const bool fits = true;
    D.f_distance[v] = fresh;
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
DEVICE Message compute(int u_distance, int weight) {
    return Message{wrap_add(u_distance, weight)};
}
DEVICE Message compute_at(const Fields& S, const EdgeFields& E, const Context& K, vid u, vid v, eid arc, Weight weight) {
    return compute(field(S.f_distance, u), weight);
}
DEVICE void sent() {
}
DEVICE void sent_at(const Fields& S, const Context& K, vid v) {
    sent();
}
DEVICE bool sent_store(const Fields& D, const Fields& S, const Context& K, vid v) {
    return true;
}
DEVICE int update(int v_distance, int message) {
    return lesser(v_distance, message);
}
DEVICE int update_at(const Fields& S, const Context& K, vid v, Message message) {
    return update(field(S.f_distance, v), message.m0);
}
DEVICE bool update_store(const Fields& D, const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = update_at(S, K, v, message);
    const bool fits = true;
    D.f_distance[v] = fresh;
    return fits;
}
DEVICE bool active(int old_distance, int new_distance) {
    return (new_distance != old_distance);
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
    return Message{(int)__shfl_xor_sync(lanes, m.m0, step)};
}
DEVICE Message fetch(Message m, unsigned lane) {
    return Message{(int)__shfl_sync(FULL, m.m0, lane)};
}
DEVICE Message load_newest(const Merged& A, vid v) {
    return Message{(int)newest(A.a0 + v)};
}
DEVICE Message identity() {
    return Message{2147483647};
}
DEVICE Message merge(Message a, Message b) {
    return Message{lesser(a.m0, b.m0)};
}
DEVICE Message load_message(const Merged& A, vid v) {
    return Message{(int)A.a0[v]};
}
DEVICE void store_message(const Merged& A, vid v, Message message) {
    A.a0[v] = message.m0;
}
DEVICE void merge_shared(const Merged& A, unsigned* locks, vid v, Message message) {
    if (message.m0 < newest(A.a0 + v)) merge_min(A.a0 + v, (int)message.m0);
}
DEVICE void save_old(const Fields& D, const Fields& S, vid v) {
    D.f_distance[v] = field(S.f_distance, v);
}
DEVICE bool changes(const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = update_at(S, K, v, message);
    return fresh != field(S.f_distance, v);
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
    if (look && !(message.m0 < newest(S.f_distance + v))) return false;
    const int before = merge_min(S.f_distance + v, message.m0);
    const int after = lesser(before, message.m0);
    if (before == after) return false;
    return active(before, after);
}
DEVICE void take_delta(const Fields& P, const Fields& S, const Context& K, vid v) {
}
typedef int Priority;
DEVICE Priority priority_of(const Fields& S, const Context& K, vid v) {
    return newest(S.f_distance + v);
}
DEVICE Priority lowest_priority() {
    return (-2147483647 - 1);
}
DEVICE Priority greatest_priority() {
    return 2147483647;
}
