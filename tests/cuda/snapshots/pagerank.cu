// Program 07f95bcd80780412 for ids int32 and weights None. Written by Dromos.
#include "state.cuh"
typedef int Weight;
struct Fields { double* f_rank; };
struct EdgeFields { int nothing; };
struct Merged { double* a0; };
struct Context { int superstep; i64 num_vertices; i64 num_arcs; const eid* out_offsets; const eid* in_offsets; const int* ids; double p_alpha; double p_tolerance; double r_dangling; double r_change; };
struct Message { double m0; };
struct Reduced { double r_dangling; double r_change; };
static const bool VOTE = false;
static const bool SENDS_ALWAYS = true;
static const bool WANTS_ALWAYS = true;
static const bool HAS_SENT = false;
static const bool HAS_EDGE_FIELDS = false;
static const bool HAS_REDUCTIONS = true;
static const bool UPDATE_ALL = true;
static const bool REVISITS = true;
static const bool ALWAYS_ACTIVE = true;
static const bool HAS_WEIGHTS = false;
static const bool CAN_IMPROVE = false;
static const bool ASKS_SOURCE = true;
static const bool WANTS_DECLARED = false;
DEVICE double init(i64 num_vertices) {
    return (1.0 / convert<double>(num_vertices));
}
DEVICE double init_at(const Fields& S, const Context& K, vid v) {
    return init(K.num_vertices);
}
DEVICE bool init_store(const Fields& D, const Fields& S, const Context& K, vid v) {
    const auto fresh = init_at(S, K, v);
    const bool fits = true;
    D.f_rank[v] = fresh;
    return fits;
}
DEVICE bool start() {
    return true;
}
DEVICE bool start_at(const Fields& S, const Context& K, vid v) {
    return start();
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
DEVICE Message compute(double u_rank, i64 u_out_degree) {
    return Message{(u_rank / convert<double>(u_out_degree))};
}
DEVICE Message compute_at(const Fields& S, const EdgeFields& E, const Context& K, vid u, vid v, eid arc, Weight weight) {
    return compute(field(S.f_rank, u), degree(K.out_offsets, u));
}
DEVICE void sent() {
}
DEVICE void sent_at(const Fields& S, const Context& K, vid v) {
    sent();
}
DEVICE bool sent_store(const Fields& D, const Fields& S, const Context& K, vid v) {
    return true;
}
DEVICE double update(double message, double p_alpha, double r_dangling, i64 num_vertices) {
    const double t0 = (1.0 / convert<double>(num_vertices));
    return ((p_alpha * message) + (((p_alpha * r_dangling) * t0) + ((1.0 - p_alpha) * t0)));
}
DEVICE double update_at(const Fields& S, const Context& K, vid v, Message message) {
    return update(message.m0, K.p_alpha, K.r_dangling, K.num_vertices);
}
DEVICE bool update_store(const Fields& D, const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = update_at(S, K, v, message);
    const bool fits = true;
    D.f_rank[v] = fresh;
    return fits;
}
DEVICE bool active() {
    return true;
}
DEVICE bool active_at(const Fields& O, const Fields& S, const Context& K, vid v) {
    return active();
}
DEVICE double reduce_dangling(double v_rank, i64 v_out_degree) {
    return ((v_out_degree == 0LL) ? v_rank : 0.0);
}
DEVICE double reduce_dangling_at(const Fields& O, const Fields& S, const Context& K, vid v) {
    return reduce_dangling(field(S.f_rank, v), degree(K.out_offsets, v));
}
DEVICE double reduce_change(double old_rank, double new_rank) {
    return absolute((new_rank - old_rank));
}
DEVICE double reduce_change_at(const Fields& O, const Fields& S, const Context& K, vid v) {
    return reduce_change(field(O.f_rank, v), field(S.f_rank, v));
}
DEVICE bool converged(double p_tolerance, double r_change) {
    return (r_change < p_tolerance);
}
DEVICE bool converged_at(const Context& K) {
    return converged(K.p_tolerance, K.r_change);
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
    return Message{(double)__shfl_xor_sync(lanes, m.m0, step)};
}
DEVICE Message fetch(Message m, unsigned lane) {
    return Message{(double)__shfl_sync(FULL, m.m0, lane)};
}
DEVICE Message load_newest(const Merged& A, vid v) {
    return Message{(double)newest(A.a0 + v)};
}
DEVICE Message identity() {
    return Message{0.0};
}
DEVICE Message merge(Message a, Message b) {
    return Message{(double)(a.m0 + b.m0)};
}
DEVICE Message load_message(const Merged& A, vid v) {
    return Message{(double)A.a0[v]};
}
DEVICE void store_message(const Merged& A, vid v, Message message) {
    A.a0[v] = message.m0;
}
DEVICE void merge_shared(const Merged& A, unsigned* locks, vid v, Message message) {
    merge_sum(A.a0 + v, (double)message.m0);
}
DEVICE void save_old(const Fields& D, const Fields& S, vid v) {
    D.f_rank[v] = field(S.f_rank, v);
}
DEVICE bool changes(const Fields& S, const Context& K, vid v, Message message) {
    const auto fresh = update_at(S, K, v, message);
    return fresh != field(S.f_rank, v);
}
DEVICE Reduced reduce_start() {
    return Reduced{0.0, 0.0};
}
DEVICE Reduced reduce_fold(Reduced R, const Fields& O, const Fields& S, const Context& K, vid v) {
    const double x0 = reduce_dangling_at(O, S, K, v);
    const double x1 = reduce_change_at(O, S, K, v);
    return Reduced{(double)(R.r_dangling + x0), (double)(R.r_change + x1)};
}
DEVICE Reduced reduce_merge(Reduced a, Reduced b) {
    const double x0 = b.r_dangling;
    const double x1 = b.r_change;
    return Reduced{(double)(a.r_dangling + x0), (double)(a.r_change + x1)};
}
DEVICE Reduced exchange(Reduced R, int step) {
    return Reduced{(double)__shfl_xor_sync(FULL, R.r_dangling, step), (double)__shfl_xor_sync(FULL, R.r_change, step)};
}
DEVICE void reduce_show(Context& K, Reduced R) {
    K.r_dangling = R.r_dangling;
    K.r_change = R.r_change;
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
