// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.IFn;
import clojure.lang.IReduceInit;
import clojure.lang.Reduced;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * How a fold begins: on the caller's thread, alone, since most folds are over before a helper could come. It becomes a run only when it
 * has taken {@link #ALONE_NANOS} and the rest should take longer than calling for help.
 */
final class Start {
    /** How long a fold runs on the caller's thread before it asks for helpers. */
    static final long ALONE_NANOS = 60_000;
    /** How long the rest must take for that; a helper needs half of it to come. */
    private static final long WORTH_HELP_NANOS = 100_000;
    /** How many times as long as so far to wait before asking again whether helpers are worth their cost. */
    private static final int PATIENCE = 16;
    /** How long a fold that nobody shares runs before others see it. */
    private static final long SEEN_NANOS = 1_000_000;
    /** So few units are not worth a look at the clock: after the first one there is but one left. */
    private static final int FEW = 2;
    /** So few units are not worth a plan, if the first of them take little time. */
    private static final int SMALL = 128;

    /** How many units to look at to see where their time goes. */
    private static final int PROBED = 128;
    /** Which share of the time must be in what can run in parallel, for helpers to be worth their cost. */
    private static final double WORTH_SHARE = 0.35;
    /** How long the parallel part of an element must take: to hand an element over costs a cache miss or two. */
    private static final double WORTH_ELEMENT_NANOS = 15;

    private static final int MAX_BLOCK = 1 << 20;
    /** How many pushed elements may be stepped on between two looks at the clock. */
    private static final int MAX_UNLOOKED = 1024;

    /** A span as a feed: blocks from its beginning to its end. */
    private static final class SpanFeed implements Feed {
        private final Span span;
        private final long minBlock;
        private long at;

        SpanFeed(Span span, long at, long minBlock) {
            this.span = span;
            this.at = at;
            this.minBlock = minBlock;
        }

        @Override
        public Span next(int n) {
            if (exhausted()) return null;
            long from = take(n);
            long size = at - from;
            return new Span() {
                @Override
                public long size() {
                    return size;
                }

                @Override
                public Object reduce(IFn step, Object acc, long first, long end) {
                    return span.reduce(step, acc, from + first, from + end);
                }
            };
        }

        @Override
        public Object reduce(IFn step, Object acc, int n) {
            long from = take(n);
            return span.reduce(step, acc, from, at);
        }

        /** Takes {@code n} units, or as many as are worthwhile, and returns where they begin. */
        private long take(int n) {
            long from = at;
            at += Math.min(Math.max(n, minBlock), span.size() - at);
            return from;
        }

        @Override
        public boolean exhausted() {
            return at >= span.size();
        }

        @Override
        public long taken() {
            return at;
        }

        @Override
        public int maxBlock() {
            return Integer.MAX_VALUE;
        }
    }

    /** A step that measures what it takes, and what it takes to measure that. */
    private static final class Timed extends AFn {
        private final IFn step;
        private long calls;
        private double nanos; // in the step
        private double clock; // to read the clock, three times a call

        Timed(IFn step) {
            this.step = step;
        }

        @Override
        public Object invoke(Object acc, Object x) {
            long before = System.nanoTime();
            long start = System.nanoTime();
            Object result = step.invoke(acc, x);
            nanos += System.nanoTime() - start - (start - before);
            clock += 3 * (start - before);
            calls++;
            return result;
        }
    }

    /** The function that a source pushes its elements into. */
    private final class Receiver extends AFn {
        private long since = start; // when the elements were counted last
        private long count; // elements since then
        private long untilLook = 1;

        @Override
        public Object invoke(Object acc) {
            return acc; // some sources complete what they reduce
        }

        @Override
        public Object invoke(Object ignored, Object x) {
            count++;
            root.acc = root.step.invoke(root.acc, x);
            if (--untilLook == 0) look();
            return root.acc instanceof Reduced ? new Reduced(null) : null;
        }

        private void look() {
            since = note(count, since);
            count = 0;
            untilLook = Math.min(root.pace.next(Long.MAX_VALUE), MAX_UNLOOKED);
            if (since - start >= SEEN_NANOS) show();
            fold.pause();
        }
    }

    private final Fold fold;
    private final IFn[] chain;
    private final Part root;
    private final Feed feed; // null: the source pushes
    private final Span span; // null: the source is a feed
    private final long start;
    private long nextQuestion;
    private boolean sharable; // whether others may help, now or later
    private Object result;

    Start(Fold fold, Feed feed, Span span) {
        this(fold, feed, span, fold.chain(), System.nanoTime());
        root.step = fold.stepOf(chain, span);
        root.acc = fold.identity.invoke();
    }

    private Start(Fold fold, Feed feed, Span span, IFn[] chain, long start) {
        this.fold = fold;
        this.feed = feed;
        this.span = span;
        this.chain = chain;
        this.start = start;
        root = new Part(new Pace(fold.options.grain(), span == null ? 1 : span.minBlock()));
        nextQuestion = start + ALONE_NANOS;
        sharable = fold.options.parallelism() > 1;
        fold.path("serial", sharable ? "it was over before help would have paid" : "parallelism is 1");
    }

    /** Folds {@code span}. A small fold ends here, with no more than a chain and two looks at the clock. */
    static Object fold(Fold fold, Span span) {
        long size = span.size();
        if (size > SMALL || fold.options.grain() > 0 || fold.watch != null || span.isCoarse() || span.minBlock() > 1) {
            return new Start(fold, feedOf(fold, span, 0), span).fold();
        }
        IFn[] chain = fold.chain();
        IFn step = chain[0];
        Object acc = fold.identity.invoke();
        if (size <= FEW) return fold.complete(step, unreduced(span.reduce(step, acc, 0, size)));
        long start = System.nanoTime();
        long before = start;
        // A second look only if it leaves more than a few for others.
        long second = size > 1 + Pace.SECOND + FEW ? 1 + Pace.SECOND : size;
        for (long from = 0, to = 1; ; from = to, to = to == 1 ? second : size) {
            acc = span.reduce(step, acc, from, to);
            if (to == size || acc instanceof Reduced) return fold.complete(step, unreduced(acc));
            long now = System.nanoTime();
            if ((now - before) * size > ALONE_NANOS * (to - from)) {
                Start later = new Start(fold, feedOf(fold, span, to), span, chain, start);
                later.root.step = step;
                later.root.acc = acc;
                later.root.pace.took(to - from, now - before);
                fold.note(later.root, to, start, now);
                return later.fold();
            }
            before = now;
        }
    }

    private static Feed feedOf(Fold fold, Span span, long at) {
        return new SpanFeed(span, at, fold.options.grain() > 0 ? fold.options.grain() : span.minBlock());
    }

    private static Object unreduced(Object acc) {
        return acc instanceof Reduced reduced ? reduced.deref() : acc;
    }

    /** Folds what {@code pusher} pushes: on this thread, since it does that on this thread's stack. */
    static Object fold(Fold fold, IReduceInit pusher) {
        Start start = new Start(fold, null, null);
        if (start.sharable) fold.path("serial", "the source reduces itself, on one thread");
        Receiver receiver = start.new Receiver();
        pusher.reduce(receiver, null);
        start.note(receiver.count, receiver.since);
        return fold.complete(start.root.step, unreduced(start.root.acc));
    }

    /** Folds the rest of the source. */
    Object fold() {
        return foldByBlocks(start) ? result : fold.complete(root.step, unreduced(root.acc));
    }

    /** Goes on block by block. Returns whether there is a result. */
    private boolean foldByBlocks(long now) {
        boolean atOnce = root.pace.isFixed() ? remaining() > fold.options.grain() : span != null && span.isCoarse();
        if (atOnce && sharable && share()) return true;
        while (!(root.acc instanceof Reduced) && !feed.exhausted()) {
            long units = reduce(root.step, MAX_BLOCK);
            // Without a look at the clock, unless somebody watches.
            if (fold.watch == null && (root.acc instanceof Reduced || feed.exhausted())) break;
            now = note(units, now);
            if (root.acc instanceof Reduced) break;
            if (now - start >= SEEN_NANOS) show();
            fold.pause();
            if (sharable && now >= nextQuestion && remainingNanos() > WORTH_HELP_NANOS) {
                if (share()) return true;
                now = System.nanoTime();
            }
        }
        return false;
    }

    /** Feeds a block, of {@code most} units at most, to {@code step}. Returns how many units it had. */
    private long reduce(IFn step, int most) {
        int n = (int) Math.min(root.pace.next(remaining()), most);
        long taken = feed.taken();
        if (span != null) root.from = taken;
        root.acc = feed.reduce(step, root.acc, n);
        return taken < 0 ? n : feed.taken() - taken;
    }

    /** Ends a block of {@code units} units that was begun at {@code before}. Returns the time. */
    private long note(long units, long before) {
        long now = System.nanoTime();
        if (units > 0) {
            root.pace.took(units, now - before);
            fold.note(root, units, before, now);
        }
        return now;
    }

    private void show() {
        if (span != null) fold.show(span.unit(), span.size(), start);
        else fold.show(feed == null ? "elements" : feed.unit(), -1, start);
    }

    private long remaining() {
        return span == null ? Long.MAX_VALUE : span.size() - feed.taken();
    }

    private double remainingNanos() {
        return root.pace.isFixed() ? Double.MAX_VALUE : root.pace.nanosPerUnit() * remaining();
    }

    // Whether to share.

    /** Says that others would not help now, but perhaps later. */
    private void stayAlone(boolean inOrder) {
        long now = System.nanoTime();
        nextQuestion = now + PATIENCE * (now - start);
        fold.path(
                "serial",
                inOrder
                        ? "the stages that need no order take too little of the time"
                        : "producing the elements takes most of the time");
    }

    /** Returns the first stage that needs order, or 0 if the fold must stay serial. */
    private int front() {
        int front = fold.firstInOrder(chain);
        if (front > 0) return front;
        sharable = false;
        fold.path(
                "serial",
                fold.stageCount() == 0
                        ? "the step needs its elements in order"
                        : "the first transducer needs its elements in order");
        return 0;
    }

    /** Lets others help, if that is worthwhile. Returns whether there is a result. */
    private boolean share() {
        int front = front();
        if (front == 0) return false;
        boolean byPosition = span != null && front > fold.stageCount();
        boolean atOnce = root.pace.isFixed() || span != null && span.isCoarse();
        if (!byPosition && !atOnce && !isWorthwhile(front)) return false;
        boolean inOrder = front <= fold.stageCount();
        fold.path(
                inOrder ? "in-order" : "parallel",
                inOrder ? "a transducer needs its elements in order; the ones before it ran in parallel" : "");
        show();
        Run run = byPosition
                ? new SpanRun(fold, span, root.range(feed.taken(), span.size()))
                : new FeedRun(fold, feed, root, chain, inOrder ? front : -1);
        result = run.execute();
        return true;
    }

    /** Goes on for a block whose steps are timed. Returns whether others should help with the rest. */
    private boolean isWorthwhile(int front) {
        boolean inOrder = front <= fold.stageCount();
        Timed rest = inOrder ? new Timed(chain[front]) : null;
        Timed step = new Timed(inOrder ? fold.chain(front, rest)[0] : chain[0]);
        double nanosPerUnit = root.pace.nanosPerUnit(); // untimed
        long before = System.nanoTime();
        long units = reduce(step, PROBED);
        long now = note(units, before);
        if (root.acc instanceof Reduced || feed.exhausted()) return false;
        double all = Math.max(1, now - before - step.clock - (inOrder ? rest.clock : 0));
        double share = Math.min(1, (step.nanos - (inOrder ? rest.nanos + rest.clock : 0)) / all);
        // A step that is timed takes longer than one in a loop.
        double parallelNanos = share * Math.min(all, units * nanosPerUnit);
        if (share >= WORTH_SHARE && parallelNanos >= WORTH_ELEMENT_NANOS * step.calls) return true;
        stayAlone(inOrder);
        return false;
    }
}
