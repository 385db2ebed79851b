// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import skein.rt.watch.Failures;

/**
 * The result of a block: a channel for one value that closes when the block ends. It makes its buffer only
 * when no take waits for the value, and can hold the exception that ended the block.
 */
public class Port extends Channel {
    /** Called when a block has ended, on the thread that ended it, after the port has closed. */
    public interface Watcher {
        /** The block ended with {@code value}, or by {@code thrown} if that is not null. Returns soon and does not throw. */
        void ended(Object value, Throwable thrown);
    }

    static {
        Failures.load();
    }

    private Object block; // the inspector's entry for the block, or null; read by inspection, not synchronised
    private Watcher watcher; // written under lock while open; read by the block's runner when it has closed the port

    /** For {@link ChannelFactory}. */
    protected Port() {
        super(null);
    }

    /** For a put by user code, a result port behaves as a channel with a buffer of one. */
    @Override
    Buffer bufferForPut() {
        if (buffer == null) buffer = new Buffers.Fixed(1);
        return buffer;
    }

    /** Gives the block's value to the takes that wait for it, or keeps it; then closes. */
    void deliver(Object value, Runner runner) {
        if (value != null) {
            lock();
            if (buffer == null && !isClosed() && firstTaker() == null) {
                buffer = new Buffers.Result(value);
                unlock();
            } else {
                unlock();
                put(value, new Callback(null, true), runner);
            }
        }
        close(runner);
    }

    /** Returns the take that has waited longest, or null. */
    public Waiter firstWaiting() {
        lock();
        try {
            Waiter first = firstTaker();
            Waiter w = first;
            while (w != null && !w.active()) w = w.next == first ? null : w.next;
            return w;
        } finally {
            unlock();
        }
    }

    /** Calls {@code w} when the block ends, without a take. Returns false, and does not call it, if the port is closed. */
    public boolean watch(Watcher w) {
        lock();
        try {
            if (isClosed()) return false;
            Watcher first = watcher;
            watcher = first == null
                    ? w
                    : (value, thrown) -> {
                        first.ended(value, thrown);
                        w.ended(value, thrown);
                    };
            return true;
        } finally {
            unlock();
        }
    }

    /** Calls the watcher. The block has ended and has closed this port. */
    void ended(Object value, Throwable thrown) {
        Watcher w = watcher;
        if (w == null) return;
        watcher = null;
        w.ended(value, thrown);
    }

    /** Returns the inspector's entry for the block whose result this is, or null. */
    public Object block() {
        return block;
    }

    /** Sets the inspector's entry for the block. It must not hold the frame, or the frame would live as long as the port. */
    public void block(Object known) {
        block = known;
    }

    /** Returns the value that nobody has taken yet, or null. For inspection: the block may still run. */
    public Object kept() {
        lock();
        try {
            return buffer instanceof Buffers.Result result ? result.peek() : null;
        } finally {
            unlock();
        }
    }
}
