// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import skein.rt.Operation;
import skein.rt.block.Frame;
import skein.rt.block.Sites;

/**
 * The record of one block that has not ended. It holds neither the frame nor a channel, so the collector takes a frame
 * that has become unreachable. The entry then says where the block was. The result port of the block holds the entry,
 * for threads and blocks that wait for a collected block.
 *
 * <p>The thread that runs the block writes the mutable fields, and any thread reads them, without ordering: a reader
 * may see the park before the last.
 */
public sealed class Entry extends WeakReference<Frame> permits OwnEntry {
    /** The fate of a block. */
    public enum Fate {
        /** It has not ended, as far as is known. */
        LIVES,
        /** It has ended, or the inspector was stopped. */
        GONE,
        /** The collector took it before it ended: it can never continue. */
        COLLECTED
    }

    /** The number of the block, which is unique in the process. */
    public final long id;

    /** The id of the block that made it, or 0. */
    public final long parent;

    /** Where blocks of its form park. */
    public final Sites sites;

    /** When it was made, or was first seen, in ticks of {@link Registry#tick}. */
    public final int born;

    int since;
    int runs;
    Operation op = Operation.NONE; // the last operation
    int state;
    volatile Fate fate = Fate.LIVES; // written under the lock of the stripe
    Entry prev; // guarded by the lock of the stripe
    Entry next; // guarded by the lock of the stripe

    Entry(Frame frame, ReferenceQueue<Frame> queue, long id, Entry parent, int now) {
        super(frame, queue);
        this.id = id;
        this.parent = parent == null ? 0 : parent.id;
        sites = Sites.of(frame.body());
        born = now;
        since = now;
    }

    /** Returns when it began its last operation or its last step, whichever is later, in ticks. */
    public int since() {
        return since;
    }

    /** Returns how many steps it has run. */
    public int runs() {
        return runs;
    }

    /** Returns its last operation. */
    public Operation op() {
        return op;
    }

    /** Returns where its last operation is in the source, or null before the first. */
    public Sites.Site site() {
        return op == Operation.NONE ? null : site(state);
    }

    /** Returns where the operation of {@code state} is in the source, or null if the state is -1. */
    public Sites.Site site(int state) {
        return state < 0 ? null : sites.at(state);
    }

    /** Returns the fate of the block. */
    public Fate fate() {
        return fate;
    }
}
