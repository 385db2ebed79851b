// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.IFn;
import clojure.lang.IReduceInit;
import clojure.lang.Reduced;
import skein.fold.memory.Fused;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/**
 * The beginning of a fold, on the caller's thread only, since most folds end before a helper could start. It becomes a run only when it
 * has taken {@link #ALONE_NANOS} and the rest should take longer than it takes to get helpers.
 */
final class Start {
    /** How long a fold runs on the caller's thread before it asks for helpers. */
    static final long ALONE_NANOS = 60_000;
    /** How long the rest must take to be worth helpers. A helper needs half of this time to start. */
    private static final long WORTH_HELP_NANOS = 100_000;
    /** How long to wait before asking again whether helpers are worth their cost, as a multiple of the time so far. */
    private static final int PATIENCE = 16;
    /** How long a fold without helpers runs before watchers see it. */
    private static final long SEEN_NANOS = 1_000_000;

    /** How many units are timed to find out where their time goes. */
    private static final int PROBED = 128;
    /** The share of the time that must be in parallel stages for helpers to be worth their cost. */
    private static final double WORTH_SHARE = 0.35;
    /** How long the parallel part of an element must take: passing an element to another thread costs one or two cache misses. */
    private static final double WORTH_ELEMENT_NANOS = 15;

    private static final int MAX_BLOCK = 1 << 20;
    /** How many pushed elements may be stepped on between two clock readings. */
    private static final int MAX_UNLOOKED = 1024;

    /** A span as a feed: blocks from its beginning to its end, each of {@code least} units or more. */
    private static final class SpanFeed implements Feed {
        private final Span span;
        private final long least;
        private long at;

        SpanFeed(Span span, long least) {
            this.span = span;
            this.least = least;
        }

        @Override
        public Span next(int n) {
            long from = at;
            return exhausted() ? null : new Section(span, from, take(n) - from);
        }

        @Override
        public Object reduce(IFn step, Object acc, int n) {
            return span.reduce(step, acc, at, take(n));
        }

        /** Takes {@code n} units, or the smallest worthwhile number. Returns where they end. */
        private long take(int n) {
            return at += Math.min(Math.max(n, least), span.size() - at);
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

    /** The units of {@code span} from {@code first} on. */
    private record Section(Span span, long first, long size) implements Span {
        @Override
        public Object reduce(IFn step, Object acc, long from, long to) {
            return span.reduce(step, acc, first + from, first + to);
        }
    }

    /** A step that measures its time, and the time of the measurement. */
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
        private long count; // elements since the last look at the clock
        private long untilLook = 1;

        @Override
        public Object invoke(Object acc) {
            return acc; // some sources call the completing arity
        }

        @Override
        public Object invoke(Object ignored, Object x) {
            count++;
            root.acc = root.step.invoke(root.acc, x);
            if (--untilLook == 0) look();
            return root.acc instanceof Reduced ? new Reduced(null) : null;
        }

        void look() {
            note(count);
            count = 0;
            untilLook = Math.min(root.pace.next(Long.MAX_VALUE), MAX_UNLOOKED);
            fold.pause();
        }
    }

    final Fold fold;
    final IFn[] chain;
    final Part root;
    final Feed feed; // null: the source pushes
    private final Span span; // null: the source is a feed
    private final long start;
    private long ended; // when the last block did
    private long nextQuestion;
    private boolean sharable; // whether others may help, now or later
    private Run run; // null: the caller is alone

    Start(Fold fold, Feed feed, Span span) {
        this.fold = fold;
        this.feed = feed;
        this.span = span;
        chain = fold.chain();
        start = ended = System.nanoTime();
        root = new Part(new Pace(fold.options.grain(), span == null ? 1 : span.minBlock()));
        root.step = Fused.stepOf(span, fold.stages, fold.rawStep, chain);
        root.acc = fold.identity.invoke();
        nextQuestion = start + ALONE_NANOS;
        sharable = fold.options.workers() > 1;
        fold.path("serial", sharable ? "it ended before helpers would have paid off" : ":workers is 1");
    }

    /** Folds {@code span}. */
    static Object fold(Fold fold, Span span) {
        long least = fold.options.grain() > 0 ? fold.options.grain() : span.minBlock();
        return new Start(fold, new SpanFeed(span, least), span).fold();
    }

    private static Object unreduced(Object acc) {
        return acc instanceof Reduced reduced ? reduced.deref() : acc;
    }

    /** Folds the elements that {@code pusher} pushes, on this thread, since they are pushed on this thread's stack. */
    static Object fold(Fold fold, IReduceInit pusher) {
        Start start = new Start(fold, null, null);
        if (start.sharable) fold.path("serial", "the source reduces itself, on one thread");
        Receiver receiver = start.new Receiver();
        pusher.reduce(receiver, null);
        start.note(receiver.count);
        return fold.complete(start.root.step, unreduced(start.root.acc));
    }

    /** Folds the rest of the source, block by block. */
    Object fold() {
        boolean atOnce = isSharedAtOnce() && remaining() > fold.options.grain();
        for (boolean more = true; run == null && more; atOnce = false) {
            boolean isTime = ended >= nextQuestion && remainingNanos() > WORTH_HELP_NANOS;
            if (sharable && (atOnce || isTime)) share();
            if (run == null) more = step(root.step, MAX_BLOCK) >= 0;
            if (run == null && more) fold.pause();
        }
        return run == null ? fold.complete(root.step, unreduced(root.acc)) : run.execute();
    }

    /** Feeds a block of at most {@code most} units to {@code step}. Returns how many units it had, or -1 if the fold is over. */
    long step(IFn step, int most) {
        if (root.acc instanceof Reduced || feed.exhausted()) return -1;
        if (run != null) ended = System.nanoTime(); // the time before is not the block's
        int n = (int) Math.min(root.pace.next(remaining()), most);
        long taken = feed.taken();
        if (span != null) root.from = taken;
        root.acc = feed.reduce(step, root.acc, n);
        long units = taken < 0 ? n : feed.taken() - taken;
        boolean watched = fold.watch != null;
        if (watched) note(units); // before waiting for the next element
        boolean more = !(root.acc instanceof Reduced) && !feed.exhausted();
        // No last clock reading, unless the fold is watched.
        if (more && !watched) note(units);
        return more ? units : -1;
    }

    /** Ends a block of {@code units} units. */
    private void note(long units) {
        long before = ended;
        ended = System.nanoTime();
        if (units > 0) {
            root.pace.took(units, ended - before);
            if (fold.watch != null) fold.watch.note(root, units, ended - before);
        }
        if (ended - start >= SEEN_NANOS) show();
    }

    private void show() {
        if (feed == null) fold.show("elements", -1, start, 0);
        else if (span == null) fold.show(feed.unit(), -1, start, feed.taken());
        else fold.show(span.unit(), span.size(), start, feed.taken());
    }

    private long remaining() {
        return span == null ? Long.MAX_VALUE : span.size() - feed.taken();
    }

    private boolean isSharedAtOnce() {
        return root.pace.isFixed() || span != null && span.isCoarse();
    }

    private double remainingNanos() {
        return root.pace.isFixed() ? Double.MAX_VALUE : root.pace.nanosPerUnit() * remaining();
    }

    // Whether to share.

    /** Turns the rest into a run with helpers, if that is worthwhile. */
    private void share() {
        int front = fold.firstInOrder(chain);
        boolean inOrder = front <= fold.stages.length;
        boolean byPosition = span != null && !inOrder;
        if (front == 0) {
            sharable = false;
            String first = fold.stages.length == 0 ? "the step" : "the first transducer";
            fold.path("serial", first + " needs its elements in order");
        } else if (byPosition || isSharedAtOnce() || isWorthwhile(front, inOrder)) {
            fold.path(
                    inOrder ? "in-order" : "parallel",
                    inOrder ? "a transducer needs its elements in order; the ones before it ran in parallel" : "");
            show();
            run = byPosition
                    ? new SpanRun(fold, span, root.range(feed.taken(), span.size()))
                    : new FeedRun(this, inOrder ? front : -1);
        }
    }

    /** Reduces a block and times its steps. Returns whether helpers should share the rest. */
    private boolean isWorthwhile(int front, boolean inOrder) {
        Timed rest = new Timed(chain[inOrder ? front : 0]);
        Timed all = inOrder ? new Timed(fold.chain(front, rest)[0]) : rest;
        double nanosPerUnit = root.pace.nanosPerUnit(); // untimed
        long before = ended = System.nanoTime();
        long units = step(all, PROBED);
        if (units < 0) return false;
        double parallel = all.nanos - (inOrder ? rest.nanos + rest.clock : 0);
        double nanos = Math.max(1, ended - before - all.clock - (inOrder ? rest.clock : 0));
        double share = Math.min(1, parallel / nanos);
        // A timed step takes longer than a step in a loop.
        double parallelNanos = share * Math.min(nanos, units * nanosPerUnit);
        if (share >= WORTH_SHARE && parallelNanos >= WORTH_ELEMENT_NANOS * all.calls) return true;
        nextQuestion = ended + PATIENCE * (ended - start);
        String why = inOrder
                ? "the stages that need no order take too little of the time"
                : "producing the elements takes most of the time";
        fold.path("serial", why);
        return false;
    }
}
