// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import skein.rt.watch.Failure;

/**
 * The result of a block: a channel for one value that closes when the block ends. It makes its buffer only
 * when nobody waits for the value, and can carry the exception that ended the block.
 */
public class Port extends Channel {
    /** Sees how a block ends, on the thread on which that happens, after the port has closed. */
    public interface Watcher {
        /** The block ended with {@code value}, or by {@code thrown} if that is not null. Returns soon and does not throw. */
        void ended(Object value, Throwable thrown);
    }

    private Object block; // what an inspector knows of the block, or null; read by inspection alone, without order
    private Watcher watcher; // written under lock while open; read by the block's runner when it has closed the port

    /** For {@link ChannelFactory}. */
    protected Port() {
        super(null);
    }

    /** Somebody puts on a result port: it behaves as a channel with a buffer of one. */
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

    /** The take that has waited longest, or null. */
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

    /** Has {@code w} told how the block ends, which takes nothing from the port. False if the port is closed already. */
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

    /** The block has ended and has closed this port. */
    void ended(Object value, Throwable thrown) {
        Watcher w = watcher;
        if (w == null) return;
        watcher = null;
        w.ended(value, thrown);
    }

    /** What an inspector knows of the block whose result this is, or null. */
    public Object block() {
        return block;
    }

    /** Sets what an inspector knows of the block. It must not hold the frame, or the frame would live as long as the port. */
    public void block(Object known) {
        block = known;
    }

    /** The value that nobody has taken yet, or null. For inspection: the block may still run. */
    public Object kept() {
        lock();
        try {
            return buffer instanceof Buffers.Result result ? result.peek() : null;
        } finally {
            unlock();
        }
    }

    /** Closes; {@link #thrown} tells takers why. If nobody asks, the exception is reported by and by. */
    void fail(Throwable thrown) {
        closeFor(Failure.of(this, thrown));
    }

    /** Closes after {@code thrown}, which the uncaught-exception handler is told by the caller. Takers may ask for it. */
    void failTold(Throwable thrown) {
        closeFor(Failure.told(thrown));
    }
}
