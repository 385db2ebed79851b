// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import java.util.ArrayDeque;

/**
 * The items of a {@link Window}, from their beginning to the reading of their results. It knows nothing of threads. All
 * is guarded by the window's lock, but the counts may be looked at without it.
 *
 * <pre>
 *   offered -> begun -> done -> read        a call that throws ends the way: nothing is read of its item
 * </pre>
 */
final class Cells {
    /** An item, and its result. */
    static final class Cell {
        Object value; // the item, until it is begun; then the result
        private boolean done;
        private Cell next;
    }

    private final boolean ordered;
    private final boolean keeps; // results, for the reader
    private final ArrayDeque<Cell> offered = new ArrayDeque<>();
    private Cell first; // ordered: of all that are not read, in order; else of those that are done
    private Cell last;
    private volatile int unread; // begun or offered, and not read; volatile: looked at without the lock
    private volatile int calls; // begun, and not done; volatile as above

    Cells(boolean ordered, boolean keeps) {
        this.ordered = ordered;
        this.keeps = keeps;
    }

    /** How many are offered or begun and have not been read. */
    int unread() {
        return unread;
    }

    /** How many calls go on. */
    int calls() {
        return calls;
    }

    /** How many are offered and not begun. */
    int offered() {
        return offered.size();
    }

    void offer(Object item) {
        Cell cell = new Cell();
        cell.value = item;
        if (ordered) append(cell);
        offered.add(cell);
        unread++;
    }

    /** The call of {@code cell}, which was not offered, begins. */
    void begin(Cell cell) {
        if (ordered) append(cell);
        unread++;
        calls++;
    }

    /** The call of what was offered first begins. Returns null if nothing is offered. */
    Cell beginOffered() {
        Cell cell = offered.poll();
        if (cell != null) calls++;
        return cell;
    }

    /** The call of {@code cell} has returned {@code result}. */
    void end(Cell cell, Object result) {
        calls--;
        cell.value = result;
        cell.done = true;
        if (!keeps) unread--;
        else if (!ordered) append(cell);
    }

    /** A call has thrown. */
    void fail() {
        calls--;
    }

    /** Whether there is something to read. */
    boolean ready() {
        return first != null && first.done;
    }

    /** Returns the next result, which must be there. */
    Object read() {
        Object result = first.value;
        first = first.next;
        if (first == null) last = null; // which holds its result
        unread--;
        return result;
    }

    void dropOffered() {
        offered.clear();
    }

    void dropResults() {
        first = null;
        last = null;
    }

    private void append(Cell cell) {
        if (first == null) first = cell;
        else last.next = cell;
        last = cell;
    }
}
