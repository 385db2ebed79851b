// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import skein.rt.Operation;

/** The record of a run: its choices, a hash of its events and, on request, the events. */
public final class Trace {
    /** How many events are kept: the first ones. */
    public static final int KEPT = 20_000;

    /** A kind of event. */
    public enum Kind {
        /** A task has been made: the subject. */
        SPAWN,
        END,
        /** A task takes, or is about to. */
        TAKE,
        PUT,
        ALTS,
        POLL,
        OFFER,
        CLOSE,
        /** A take that waited, or was deferred, is done; so with puts and choices. */
        TOOK,
        WAS_PUT,
        CHOSE,
        CANCELLED,
        /** An operation did not do what it was for, as the value says. */
        FAILED,
        /** A point before a task reads or changes something; what it did follows. */
        AT,
        READ,
        WRITE,
        /** A compare-and-set! has changed nothing. */
        UNSET,
        DELIVER,
        /** A task sends an action to an agent. */
        SEND,
        /** A task asks for the value of a promise or a future. */
        DEREF,
        /** A thread waits outside of Skein's operations, in java.util.concurrent or for a monitor. */
        PARK,
        GIVES_BACK,
        /** A task waits for the end of a scope. */
        CLOSING,
        CANCEL,
        /** The clock moves. */
        TIME,
        /** The task was chosen although the subject was next. */
        SWITCH,
        DREW,
        FAULT,
        NOTE;

        private final String words = name().toLowerCase(Locale.ROOT).replace('_', ' ');

        /** Returns what a block is about to do. */
        static Kind begun(Operation operation) {
            return switch (operation) {
                case TAKE -> TAKE;
                case PUT -> PUT;
                case ALTS -> ALTS;
                case NONE -> throw new AssertionError("no operation");
            };
        }

        /** Returns that it is done. */
        static Kind done(Operation operation) {
            return switch (operation) {
                case TAKE -> TOOK;
                case PUT -> WAS_PUT;
                case ALTS -> CHOSE;
                case NONE -> throw new AssertionError("no operation");
            };
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /**
     * Something that happened.
     *
     * @param at virtual nanoseconds
     * @param task the task that did it, or null
     * @param on the port, atom or task concerned, or null
     * @param value in words, or null
     * @param site a stack trace, or the state of a block
     * @param hash of all events up to this one
     * @param choices how many choices there had been
     */
    public record Event(long at, Task task, Kind kind, Object on, String value, Object site, long hash, int choices) {}

    private static final long PRIME = 0x100000001b3L;

    private final List<Event> events; // null unless they are kept
    private int[] values = new int[16];
    private int[] counts = new int[16];
    private byte[] kinds = new byte[16];
    private int choices;
    private int deviations;
    private long hash = 0xcbf29ce484222325L;

    Trace(boolean keeps) {
        events = keeps ? new ArrayList<>() : null;
    }

    boolean keeps() {
        return events != null && events.size() < KEPT;
    }

    void mix(long x) {
        hash = (hash ^ x) * PRIME;
    }

    void add(Event event) {
        events.add(event);
    }

    void chose(Strategy.Kind kind, int n, int value) {
        if (choices == values.length) {
            values = Arrays.copyOf(values, 2 * choices);
            counts = Arrays.copyOf(counts, 2 * choices);
            kinds = Arrays.copyOf(kinds, 2 * choices);
        }
        values[choices] = value;
        counts[choices] = n;
        kinds[choices++] = (byte) kind.ordinal();
        if (value != 0) deviations++;
        mix(value + 1);
    }

    /** Returns how many choices there were. */
    public int choices() {
        return choices;
    }

    /** Returns how many choices were not the default. */
    public int deviations() {
        return deviations;
    }

    /** Returns what was chosen at choice {@code i}. */
    public int value(int i) {
        return values[i];
    }

    /** Returns how many candidates it had. */
    public int count(int i) {
        return counts[i];
    }

    /** Returns what kind of choice it was: the ordinal of a {@link Strategy.Kind}. */
    public int kind(int i) {
        return kinds[i];
    }

    /** Returns a hash of all events. */
    public long hash() {
        return hash;
    }

    /** Returns the events, or null if they were not kept. */
    public List<Event> events() {
        return events;
    }
}
