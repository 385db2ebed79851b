// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.ArrayList;
import java.util.List;

/**
 * Circular lists of waiters through {@link Waiter#next} and {@link Waiter#prev}. A list is represented by its first
 * waiter, or null when empty. The lock of a channel guards its lists. A list of claimed waiters belongs to the thread
 * that claimed them.
 */
final class Ring {
    private Ring() {}

    static Waiter link(Waiter first, Waiter waiter) {
        if (first == null) {
            waiter.next = waiter;
            waiter.prev = waiter;
            return waiter;
        }
        Waiter last = first.prev;
        last.next = waiter;
        waiter.prev = last;
        waiter.next = first;
        first.prev = waiter;
        return first;
    }

    /** Returns the new first of the list. */
    static Waiter unlink(Waiter first, Waiter waiter) {
        Waiter next = waiter.next;
        Waiter prev = waiter.prev;
        waiter.next = null;
        waiter.prev = null;
        if (next == waiter) return null;
        prev.next = next;
        next.prev = prev;
        return waiter == first ? next : first;
    }

    static int count(Waiter first) {
        int n = 0;
        for (Waiter w = first; w != null; w = w.next == first ? null : w.next) n++;
        return n;
    }

    static boolean anyActive(Waiter first) {
        for (Waiter w = first; w != null; w = w.next == first ? null : w.next) if (w.active()) return true;
        return false;
    }

    /** Returns the first waiter of {@code block} in the list, or null. */
    static Waiter of(Block block, Waiter first) {
        Waiter w = first;
        while (w != null && w.block() != block) w = w.next == first ? null : w.next;
        return w;
    }

    /** Returns the waiters of the list that are active, or those that are not, in order. */
    static List<Waiter> waiters(Waiter first, boolean active) {
        List<Waiter> found = new ArrayList<>();
        for (Waiter w = first; w != null; w = w.next == first ? null : w.next) if (w.active() == active) found.add(w);
        return found;
    }

    /** Appends a claimed waiter, with its result, to a list of waiters to complete after the lock is released. */
    static Waiter append(Waiter completed, Waiter waiter, Object result) {
        waiter.value = result;
        return link(completed, waiter);
    }

    static Waiter appendAll(Waiter completed, Waiter more) {
        if (completed == null) return more;
        if (more == null) return completed;
        Waiter last = completed.prev;
        Waiter lastMore = more.prev;
        last.next = more;
        more.prev = last;
        lastMore.next = completed;
        completed.prev = lastMore;
        return completed;
    }

    static void completeAll(Waiter completed, Runner runner) {
        while (completed != null) {
            Waiter w = completed;
            completed = unlink(completed, w);
            Object result = w.value;
            w.complete(result, runner);
        }
    }
}
