/* SPDX-License-Identifier: Apache-2.0
 * One component being searched. Private to planner/search*.c.
 *
 * Locals: the component's nodes in the order they are decided (0 .. n-1, consumers first), then what they read from outside it (n ..
 * nlocal-1). Parts are numbered as they open. All that a decision changes is written through the trail, so it can be taken back. */
#ifndef CLF_PLANNER_SEARCHING_H
#define CLF_PLANNER_SEARCHING_H
#include "planner/search.h"

enum {
    CLF_BITS_WORDS = 4,
    CLF_MOST_LOCALS = 64 * CLF_BITS_WORDS,
    CLF_MOST_SEARCHED = CLF_MOST_LOCALS / 2, /* nodes; larger components take the best opening cover */
    CLF_MOST_CANDIDATES = 10,             /* parts that may compute a node, too, of which all subsets are tried */
    CLF_MOST_WAYS = 9                     /* over all cells, or the entries of a driver of one of several shapes */
};
typedef struct clf_bits { uint64_t w[CLF_BITS_WORDS]; } clf_bits;
static inline bool clf_bits_has(const clf_bits *s, int i) { return s->w[i >> 6] >> (i & 63) & 1; }
static inline void clf_bits_add(clf_bits *s, int i) { s->w[i >> 6] |= 1ull << (i & 63); }
static inline bool clf_bits_meet(const clf_bits *a, const clf_bits *b) {
    uint64_t any = 0;
    for (int i = 0; i < CLF_BITS_WORDS; i++) any |= a->w[i] & b->w[i];
    return any != 0;
}

/* An operand of a node: in memory always, or perhaps inside. again: what it costs beyond one stream, per device, on the cheapest way.
 * ps[way * devices + device]: what a loop pays that goes that way; of a product's right side, one that is tiled. rows, waits: per device,
 * where it is not, and where its rows wait to be put together besides. */
typedef struct clf_use {
    int32_t local;
    bool inside;           /* perhaps */
    bool by_rows;          /* taken row by row */
    bool in_loop, alone;   /* wanted when its reader is in a loop, or stands alone */
    bool part_of_it;       /* a range: what it costs is not counted before the cover is complete */
    bool right;            /* of a product whose loop may be tiled, or wait for rows */
    clf_ps streams;        /* its node's part of streaming it again, while nobody has paid for it */
    clf_ps again[CLF_MOST_DEVICES], *ps, rows[CLF_MOST_DEVICES], waits[CLF_MOST_DEVICES];
    clf_ps *looks; /* of ps, what no computing hides */
} clf_use;

/* What deciding a node takes from its pair. */
typedef struct clf_share { int32_t pair; clf_ps slack; } clf_share;

typedef struct clf_node_facts {
    int32_t id, class_;        /* graph node; class of loops, local */
    uint8_t is;                /* CLF_CAN_LOOP ... */
    bool demanded;             /* a result, or read from outside the component */
    bool stored;               /* so, or something inside must read it from memory */
    bool root;
    bool optional;             /* copied, and in memory only if somebody reads it there */
    int32_t nuse, nshare;
    clf_use *use;
    clf_share *share;          /* of operands that nothing but nodes which may stand alone must read */
    clf_ps compute[CLF_MOST_DEVICES], alone[CLF_MOST_DEVICES];
    clf_ps apart[CLF_MOST_DEVICES]; /* what computing it takes besides, over all cells, and nothing hides; 0 where a leaf has entries:
                                       all of it is in compute then, which is never more than it costs */
    clf_ps write[2][CLF_MOST_DEVICES]; /* stored by a step alone; by a loop, where copies of it may meet */
    clf_ps *way_compute, *way_write; /* [way * devices + device]: the same in a loop that goes that way; */
    clf_ps *way_looks;               /* of writing, what no computing hides */
    clf_ps untiled[CLF_MOST_DEVICES]; /* what a wide product computes more where the loop is not tiled */
    bool wide;                  /* a product that a loop may go through in tiles, */
    int32_t left;               /* a long row on its left side that a loop may put together: local; -1: none */
    clf_bits beside, kept;      /* beside these, if no others than those are stored (search_tiles.c) */
    clf_ps least_moved;        /* what it streams in a loop beyond one pass over its operands, or loses by standing alone */
    clf_ps least_again;        /* what parts that must all have it pay for that: storing and reading it, or computing it again */
    clf_ps least_compute, least_write, least_alone; /* least_alone: of a whole step, what it reads from outside included */
    clf_ps loop, streamed;      /* computed by a loop, and what it streams there then, on any device at least */
    clf_ps step;                /* by a step alone; with its launch and what no pair counts of its reading, where slack is shared */
    clf_ps in_loop, as_step;    /* the bound if it is: before anything is decided, where both are possible */
    int immediates;
    clf_bits consumers;         /* nodes that may take it from inside */
    clf_bits copied_by;         /* nodes that compute it again, though it is stored for others */
    clf_bits beyond;            /* nodes that depend on it through what lies outside the component */
    clf_bits ties;              /* what connects it to others of a loop: itself, and what it reads row by row; */
    clf_bits takes;             /* operands inside, and copied ones, if the loop computes them */
    int32_t group;             /* nodes of its class that a chain of ties leads to */
} clf_node_facts;

/* Does a step alone of f pay for use u? Not for the same operand twice. */
static inline bool clf_read_alone(const clf_node_facts *f, int32_t u) {
    bool pays = f->use[u].alone;
    for (int32_t v = 0; v < u; v++) pays = pays && !(f->use[v].alone && f->use[v].local == f->use[u].local);
    return pays;
}

typedef struct clf_operand_facts {
    int32_t id, way; /* way: over the entries of its shape, if it is a leaf that has some; 0: none */
    clf_ps read[CLF_MOST_DEVICES], least, transfer[CLF_MOST_DEVICES];
} clf_operand_facts;

/* An operand that nodes of one class read from memory in any case: by how many parts at least, and so far; steps alone count among them or
 * not; what is sure to be paid for it by parts to come, by each once at least. least 0: its readers may all stand alone, at the price of
 * their slack. visit: what going along its entries adds to once; visits: for all parts to come. */
typedef struct clf_pair { int32_t operand, class_; bool alone; int64_t least, parts, slack, rest, once, visit, visits; } clf_pair;
/* A group: nodes undecided; loops at least, and so far. */
typedef struct clf_group { int64_t undecided, least, parts; } clf_group;

/* Numbers are words, for the trail. */
typedef struct clf_opened {
    /* The least over the ways it may go. as_moved, as_computed: what is moved, or computed, and of the other what never hides behind it;
     * both is the larger of the two on one way. plain: computed, without visiting entries. by_leaf: as the former two, but visiting
     * entries only on ways of leaves that it has read. */
    int64_t moved, computed, both, as_moved, as_computed, plain, by_leaf_moved, by_leaf_computed;
    int64_t ops, operands;
    struct clf_way_sum { int64_t written, looked, computed; } way[CLF_MOST_WAYS]; /* of a loop; looked: of what is written */
    int64_t loop, device, class_, group, waited; /* waited: another device or the caller reads what it stores */
    clf_bits has, keeps, reads, paid; /* nodes computed; stored; locals read; paid for */
    clf_bits needs;                   /* parts it reads from */
} clf_opened;

typedef struct clf_cell { uint64_t *at, was; } clf_cell;

/* Somebody who reads a local in a loop. */
typedef struct clf_user { int32_t node, use; } clf_user;

/* A node before it is decided: the parts that compute a consumer of it and may compute it, too; whether there are more than are tried; the
 * parts that must read it. */
typedef struct clf_view {
    int32_t n, part[CLF_MOST_CANDIDATES];
    bool read, more;
    clf_bits readers;
} clf_view;

/* One way to decide a node: which candidates compute it, and who stores it; the bound that follows from it, own: by itself. */
typedef struct clf_option { clf_ps bound, own; uint32_t mask; int32_t maker; } clf_option;
/* A node's ways, the least bound first, on the stack of options; bound: of what is decided before, which none of them can be below. */
typedef struct clf_frame { int32_t top, first, n, next; clf_ps bound; } clf_frame;

typedef struct clf_component {
    const clf_problem *p;
    const clf_search_options *opt;
    clf_arena *arena;
    int32_t n, nlocal, room, most, npair, nclass; /* most locals: for which there is room; that there may be */
    clf_node_facts *node;
    clf_operand_facts *operand; /* of all locals */
    clf_pair *pair;
    int16_t *pair_at;           /* [local][class] -> its number + 1 */
    const clf_bits *waits;      /* node -> those of the nodes that it is made from that no loop computes before it (search_levels.c) */
    bool tiles;                 /* a device has tiles for products, and a loop computes some */
    int32_t nway;
    clf_ps *way_entries;        /* [way * devices + device]: visiting them */
    clf_ps *way_sums;           /* the same, for loops of nothing but nodes that are not in `places` */
    clf_bits places;            /* nodes for which it matters where entries are (bill.c) */
    clf_ps *way_visit;          /* what a loop pays for that at least for each leaf of their shape, and nothing hides */
    clf_bits way_leaf[CLF_MOST_WAYS]; /* those leaves: locals */
    clf_user *user;             /* by locals: those of l begin at user_at[l] */
    int32_t *user_at;
    /* state */
    clf_opened *part;
    int64_t npart;
    int64_t *maker;             /* node -> part */
    /* Per class; the last: steps alone. as_moved, as_computed, plain: sums of its parts'. dear: the class's dear node is
     * undecided. */
    struct clf_row {
        int64_t both, moved, as_moved, as_computed, by_leaf_moved, by_leaf_computed, rest_moved, rest_visits, rest_computed, plain, dear;
    } *row;
    const clf_profile *hides;   /* the device on which most of moving and computing overlaps */
    int64_t launches, transfers, rest_launches, rest_again; /* launches: and all else that nothing hides; rest_launches: how many must come */
    clf_group *group;
    clf_ps least_launch;
    int32_t *dear;              /* class -> the node that only loops compute, and that costs most beyond its least, whichever way they go */
    clf_bits *present;           /* per device: locals that were brought there */
    clf_cell *trail;
    int32_t top, cap;
    struct clf_seen_table *seen; /* partial covers that were searched; NULL: none noted */
    bool notes;                 /* they may be: costs are compared (search_memo.c) */
    clf_frame *frame;
    clf_option *option;
    int32_t noption, cap_option;
    /* results */
    clf_ps best, floor;         /* floor: the bound before anything is decided */
    int64_t plans, covers; /* partial covers costed, complete ones priced */
    bool failed, stopped, found, narrowed; /* narrowed: not all options were looked at */
    bool renewed;               /* something more is certain: the search begins again */
    clf_opened *best_part;
    int64_t best_npart, *best_maker;
    uint8_t *best_layout;       /* of parts in executable order */
    /* complete covers */
    clf_cover leaf;
    clf_pricer *pricer;
    int32_t *ids, *up, *owner, *order;
    uint8_t *mark;
} clf_component;

/* search_part.c */
/** Write through the trail; take back what is above top. */
void clf_put(clf_component *c, int64_t *at, int64_t v);
void clf_put_more(clf_component *c, int64_t *at, int64_t by);
void clf_put_in(clf_component *c, clf_bits *s, int i);
void clf_undo(clf_component *c, int32_t top);
/** Of moving or computing so much, what takes its time though as much of the other is done meanwhile. */
static inline clf_ps clf_never_hidden(const clf_profile *dev, clf_ps ps) { return clf_cost_both(dev, ps, ps) - ps; }
/** Local q goes from one device to another, unless it did before. */
void clf_part_carry(clf_component *c, int32_t q, int64_t from, int64_t to);
/** A pair has so many parts more, and so much slack. */
void clf_pair_changes(clf_component *c, clf_pair *p, int64_t parts, clf_ps slack);
/** What node f streams again for use u is not to come any more. */
void clf_stream_paid(clf_component *c, const clf_node_facts *f, clf_use *u);
/** Part o reads node q, which it could have taken from inside. */
void clf_part_read(clf_component *c, clf_opened *o, int32_t q);
/** Part o computes node q; false: it has too many operators or operands then. */
bool clf_part_compute(clf_component *c, clf_opened *o, int32_t q);
/** Part o stores node q. */
void clf_part_store(clf_component *c, clf_opened *o, int32_t q);
/** How often loop o streams local l, over all cells: 0 once, 1 again for rows together, 2 for each row. */
int clf_part_streams(const clf_component *c, const clf_opened *o, int32_t l);

/* search_tiles.c */
/** Would a loop in tiles compute part o, if nothing else came? */
bool clf_tiled(const clf_component *c, const clf_opened *o);
/** Nodes whose tiles, or rows that wait, what is undecided from q on may still change in part o, added to *out. */
void clf_tiles_to_come(const clf_component *c, const clf_opened *o, int32_t q, clf_bits *out);
/** Facts of products. local: graph node -> local + 1. */
void clf_component_tiles(clf_component *c, const int32_t *local);

/* search_ways.c */
/** Users of each local; one way, over all cells, from what is known of nodes and operands. False: out of memory. */
bool clf_component_ways(clf_component *c);
/** Room for so many ways, all without costs. False: out of memory. */
bool clf_component_ways_room(clf_component *c, int32_t nway);

/* search_state.c */
/** What is to come of a pair, as things stand. */
static inline clf_ps clf_pair_rest(const clf_pair *p) {
    if (p->least) return p->parts < p->least ? (p->least - p->parts) * p->once : 0;
    return p->parts ? 0 : p->slack < p->once ? p->slack : p->once;
}
static inline clf_ps clf_pair_visits(const clf_pair *p) { return p->parts < p->least ? (p->least - p->parts) * p->visit : 0; }
/** What there is to decide about node q. */
void clf_look(const clf_component *c, int32_t q, clf_view *v);
/** Try option (mask, maker) of node q: false, with nothing changed but the trail, if it is not legal. */
bool clf_decide(clf_component *c, int32_t q, const clf_view *v, uint32_t mask, int32_t maker);
/** Do ties connect all nodes of the part? What is taken from inside does only if the part computes it. */
bool clf_connected(const clf_component *c, const clf_opened *o);
/** Ways to store q under a mask; 0 if the mask is none. */
int32_t clf_makers(const clf_component *c, int32_t q, const clf_view *v, uint32_t mask);
clf_ps clf_bound(const clf_component *c);
/** What the loop of node n computes, or moves for operands that no part has read, beyond the least of it, on way i / devices on device
 *  i % devices. */
clf_ps clf_dear_computed(const clf_component *c, int32_t n, int32_t i);
clf_ps clf_dear_moved(const clf_component *c, int32_t n, int32_t i);

/* search_local.c */
/** Facts and state of the component of these nodes (ascending). local: a zero per graph node, zero again afterwards. demanded: nodes that
 *  others want in memory. *looks: how many nodes between a component's may be looked at, all components together; becomes less. *fits:
 *  false if the component is too large, or too many others stand between its nodes. */
clf_status clf_component_new(clf_component *c, const clf_problem *p, const int32_t *node, int32_t n, int32_t *local,
                             const uint8_t *demanded, clf_arena *arena, int64_t *looks, bool *fits, clf_err *err);

/* search_entries.c */
/** Facts of a component whose loops stored entries may drive; what clf_leaf works with is lent. */
clf_status clf_component_entries(clf_component *c, clf_err *err);

/* search_begin.c */
/** Room for the state. False: out of memory. */
bool clf_component_room(clf_component *c);
/** From the nodes' facts to the state before anything is decided. False: out of memory. */
bool clf_component_begin(clf_component *c);

/* search_fix.c */
/** Note what the bound is with each node in a loop, and as a step alone; nothing is decided. */
void clf_component_probe(clf_component *c);
/** Is one of the two no cheaper than the best? */
bool clf_component_fixable(const clf_component *c);
/** Take those ways out; nothing is decided. False: out of memory. */
bool clf_component_fix(clf_component *c);

/* search_memo.c */
/** Forget what was searched. */
void clf_seen_nothing(clf_component *c);
/** Nodes 0 .. q-1 being decided: was a partial cover searched that looks the same to the others, and is no dearer? Else it is noted. */
bool clf_seen_before(clf_component *c, int32_t q);

/* search_levels.c */
typedef struct clf_waiting {
    clf_bits *below, *waits; /* node -> nodes that it is made from; those of them that it waits for */
    int32_t *length;         /* node -> of the longest chain that ends in it, while one is looked for */
} clf_waiting;
/** How many nodes of `in` wait for each other, one for the next. */
int64_t clf_longest_chain(const clf_component *c, clf_waiting *w, const clf_bits *in);
/** What every cover has at least: pairs, groups' loops, what is stored. False: out of memory. */
bool clf_component_chains(clf_component *c);

/* search_again.c */
/** What it takes that several parts have the same value. False: out of memory. */
bool clf_component_again(clf_component *c, clf_waiting *w);

/* search_cover.c */
/** Price what is decided, all nodes being so; keep it if it is legal and the cheapest. */
clf_status clf_leaf(clf_component *c, clf_err *err);
/** The cheapest that was found, as the parts of the cover lent to the component. */
void clf_leaf_of_best(clf_component *c, clf_cover *to);

/* search_descend.c */
/** Search a component that has begun, best being the cover to beat. */
clf_status clf_component_search(clf_component *c, clf_err *err);

/* All components. */
typedef struct clf_opening {
    clf_cover cover;
    int32_t *first, *next;
} clf_opening; /* parts of each component, chained; numbers are indices + 1 */

enum { CLF_MOST_OPENINGS = 3 };
typedef struct clf_searcher {
    const clf_problem *p;
    const clf_search_options *opt;
    clf_arena *arena;
    int32_t *comp; /* node -> component, named by a node of it; union-find first */
    uint8_t *demanded, *wanted;
    int32_t *local, *size, *start, *nodes; /* nodes by component */
    clf_opening open[CLF_MOST_OPENINGS];
    int nopen;
    clf_cover leaf, *out;
    clf_pricer pricer;
    clf_search_stats *stats;
    uint8_t *mark;
    int32_t *owner, *up;
    int64_t looks; /* nodes between those of a component that may still be looked at */
} clf_searcher;

/* search_openings.c */
typedef struct clf_best_opening {
    const clf_opening *at;
    int on; /* which device */
    clf_ps cost;
} clf_best_opening;
/** What selectors choose, and one opening more where leaves are sparse. */
clf_status clf_openings_find(clf_searcher *s, clf_err *err);
/** Leave out copied expressions that nobody needs in memory: which those are is known. */
void clf_openings_trim(clf_searcher *s);
/** By components, which are known. */
clf_status clf_openings_sort(clf_searcher *s, clf_err *err);
/** Put the part on device d, if it may be there. */
void clf_opening_put_on(const clf_problem *p, clf_part *part, int d);
/** The cheapest opening of component k, the first of several. */
clf_status clf_opening_best(clf_searcher *s, int32_t k, clf_best_opening *best, clf_err *err);
/** That one in s->leaf, in its layouts. */
clf_status clf_opening_take(clf_searcher *s, int32_t k, clf_best_opening *best, clf_err *err);

/* search_moves.c */
/** Put single parts of s->leaf, component k in its layouts, on other devices, and products alone into loops, where it costs less so; *saved:
 *  how much. */
clf_status clf_leaf_better(clf_searcher *s, int32_t k, clf_ps *saved, clf_err *err);

/* search_apart.c */
/** One opening more, where leaves are sparse. */
clf_status clf_searcher_apart(clf_searcher *s, clf_err *err);

/* search_components.c */
/** Which copied expressions somebody may read from memory. */
void clf_searcher_wanted(clf_searcher *s);
/** Which nodes are one component, as choices couple them; what components read of each other. The opening covers are known. */
clf_status clf_searcher_components(clf_searcher *s, clf_err *err);
#endif
