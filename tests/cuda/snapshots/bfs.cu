// Program 56fa63cb2848c7f3 for ids int32 and weights None. Written by Dromos.
#include "state.cuh"
typedef int Weight;
struct Fields { int* f_level; int* f_parent; };
struct EdgeFields { int nothing; };
struct Merged { int* a0; };
struct Context { int superstep; i64 num_vertices; i64 num_arcs; const eid* out_offsets; const eid* in_offsets; const int* ids; i64 p_source; };
struct Message { int m0; };
struct Reduced { int nothing; };
static const bool VOTE = true;
static const bool SENDS_ALWAYS = true;
static const bool WANTS_ALWAYS = false;
static const bool HAS_SENT = false;
static const bool HAS_EDGE_FIELDS = false;
static const bool HAS_REDUCTIONS = false;
static const bool UPDATE_ALL = false;
static const bool REVISITS = false;
static const bool ALWAYS_ACTIVE = false;
static const bool HAS_WEIGHTS = false;
static const bool CAN_IMPROVE = false;
static const bool ASKS_SOURCE = false;
static const bool WANTS_DECLARED = false;
struct init_result { int r0; int r1; };
DEVICE init_result init(int v_id, i64 p_source) {
    const bool t0 = (convert<i64>(v_id) == p_source);
    return init_result{convert<int>((t0 ? 0LL : -1LL)), (t0 ? v_id : -1)};
}
DEVICE init_result init_at(const Fields& S, const Context& K, vid v) {
    return init(given_id(K, v), K.p_source);
}
DEVICE bool init_store(const Fields& D, const Fields& S, const Context& K, vid v) {
    const auto fresh = init_at(S, K, v);
    const bool fits = true;
    D.f_level[v] = fresh.r0;
    D.f_parent[v] = fresh.r1;
    return fits;
}
DEVICE bool start(int v_id, i64 p_source) {
    return (convert<i64>(v_id) == p_source);
}
DEVICE bool start_at(const Fields& S, const Context& K, vid v) {
    return start(given_id(K, v), K.p_source);
}
DEVICE bool wants(int v_level) {
    return (v_level < 0);
}
DEVICE bool wants_at(const Fields& S, const Context& K, vid v) {
    return wants(field(S.f_level, v));
}
DEVICE bool sends() {
    return true;
}
DEVICE bool sends_at(const Fields& S, const EdgeFields& E, const Context& K, vid u, vid v, eid arc, Weight weight) {
    return sends();
}
DEVICE Message compute(int u_id) {
    return Message{u_id};
}
DEVICE Message compute_at(const Fields& S, const EdgeFields& E, const Context& K, vid u, vid v, eid arc, Weight weight) {
    return compute(given_id(K, u));
}
DEVICE void sent() {
}
DEVICE void sent_at(const Fields& S, const Context& K, vid v) {
    sent();
}
DEVICE bool sent_store(const Fields& D, const Fields& S, const Context& K, vid v) {
    return true;
}
struct update_result { int r0; int r1; };
DEVICE update_result update(int v_level, int v_parent, int message, int superstep) {
    const bool t0 = (v_level < 0);
    return update_result{(t0 ? wrap_add(superstep, 1) : v_level), (t0 ? message : v_parent)};
}
DEVICE update_result update_at(const Fields& S, const Context& K, vid v, Message message) {
    return update(field(S.f_level, v), field(S.f_parent, v), message.m0, K.superstep);
}
DEVICE bool update_store(const Fields& D, const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = update_at(S, K, v, message);
    const bool fits = true;
    D.f_level[v] = fresh.r0;
    D.f_parent[v] = fresh.r1;
    return fits;
}
DEVICE bool active(int old_level, int new_level) {
    return (new_level != old_level);
}
DEVICE bool active_at(const Fields& O, const Fields& S, const Context& K, vid v) {
    return active(field(O.f_level, v), field(S.f_level, v));
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
    return field(S.f_level, v) < 0;
}
struct claim_result { int r0; int r1; };
DEVICE claim_result claim(int message, int superstep) {
    return claim_result{wrap_add(superstep, 1), message};
}
DEVICE claim_result claim_at(const Fields& S, const Context& K, vid v, Message message) {
    return claim(message.m0, K.superstep);
}
DEVICE bool claim_store(const Fields& D, const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = claim_at(S, K, v, message);
    const bool fits = true;
    D.f_level[v] = fresh.r0;
    D.f_parent[v] = fresh.r1;
    return fits;
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
    return Message{0};
}
DEVICE Message merge(Message a, Message b) {
    return b;
}
DEVICE Message load_message(const Merged& A, vid v) {
    return Message{(int)A.a0[v]};
}
DEVICE void store_message(const Merged& A, vid v, Message message) {
    A.a0[v] = message.m0;
}
DEVICE void merge_shared(const Merged& A, unsigned* locks, vid v, Message message) {
    A.a0[v] = message.m0;
}
DEVICE void save_old(const Fields& D, const Fields& S, vid v) {
    D.f_level[v] = field(S.f_level, v);
    D.f_parent[v] = field(S.f_parent, v);
}
DEVICE bool changes(const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = update_at(S, K, v, message);
    return fresh.r0 != field(S.f_level, v) || fresh.r1 != field(S.f_parent, v);
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
