// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import java.util.ArrayDeque;

/**
 * The items of a {@link Window}, from the start of their calls until their results are read. The window's lock guards
 * everything here, but the counts may be read without it.
 *
 * <pre>
 *   offered -> begun -> done -> read        a call that throws has no result to read
 * </pre>
 */
final class Cells {
    /** An item, and its result. */
    static final class Cell {
        Object value; // the item until its call begins, then the result
        private boolean done;
        private Cell next;
    }

    private final boolean ordered;
    private final boolean keeps; // whether results are kept for the reader
    private final ArrayDeque<Cell> offered = new ArrayDeque<>();
    private Cell first; // list of the cells that are not read, in order; if not ordered, only of those that are done
    private Cell last;
    private volatile int unread; // how many are begun or offered, and not read; volatile: read without the lock
    private volatile int calls; // how many are begun, and not done; volatile as above

    Cells(boolean ordered, boolean keeps) {
        this.ordered = ordered;
        this.keeps = keeps;
    }

    /** Returns how many are offered or begun and have not been read. */
    int unread() {
        return unread;
    }

    /** Returns how many calls are running. */
    int calls() {
        return calls;
    }

    /** Returns how many are offered and not begun. */
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

    /** The call for the item that was offered first begins. Returns its cell, or null if no item is offered. */
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

    /** Returns whether there is a result to read. */
    boolean ready() {
        return first != null && first.done;
    }

    /** Returns the next result, which must be ready. */
    Object read() {
        Object result = first.value;
        first = first.next;
        if (first == null) last = null; // or it would keep its result alive
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
