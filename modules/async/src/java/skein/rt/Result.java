// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * Makes a channel the port of a block's result: a channel for one value that closes when the block ends. It makes its
 * buffer only when no take waits for the value, and can hold the exception that ended the block. The methods are those of
 * such a port.
 */
public final class Result extends Role {
    /** Called when a block has ended, on the thread that ended it, after the port has closed. */
    public interface Watcher {
        /** The block ended with {@code value}, or by {@code thrown} if that is not null. Returns soon and does not throw. */
        void ended(Object value, Throwable thrown);
    }

    /** Shared by the ports of all blocks that nobody inspects or watches, so that these cost nothing. */
    public static final Result PLAIN = new Result(null, null);

    /** Waits for nothing: a value that a block leaves in a port that is full. */
    private static final class Nobody extends Waiter {
        @Override
        protected void complete(Object result, Runner runner) {}
    }

    private final Object block; // the inspector's entry for the block, or null
    private final Watcher watcher; // or null

    private Result(Object block, Watcher watcher) {
        this.block = block;
        this.watcher = watcher;
    }

    private Result with(Object newBlock, Watcher newWatcher) {
        Result changed = new Result(newBlock, newWatcher);
        changed.putWaits = putWaits;
        return changed;
    }

    @Override
    Role unshared() {
        return this == PLAIN ? with(null, null) : this;
    }

    /** Gives the block's value to the takes that wait for it, or keeps it; then closes. */
    public static void deliver(Channel port, Object value, Runner runner) {
        if (value != null) {
            port.lock();
            if (port.buffer == null && !port.isClosed() && port.firstTaker() == null) {
                port.buffer = new Buffers.Result(value);
                port.unlock();
            } else {
                port.unlock();
                port.put(value, new Nobody(), runner); // it waits for a take, in a full port
            }
        }
        port.close(runner);
    }

    /** Returns the take that has waited longest, or null. */
    public static Waiter firstWaiting(Channel port) {
        port.lock();
        try {
            Waiter first = port.firstTaker();
            Waiter w = first;
            while (w != null && !w.active()) w = w.next == first ? null : w.next;
            return w;
        } finally {
            port.unlock();
        }
    }

    /** Calls {@code w} when the block ends, without a take. Returns false, and does not call it, if the port is closed. */
    public static boolean watch(Channel port, Watcher w) {
        port.lock();
        try {
            if (port.isClosed()) return false;
            Result known = (Result) port.role;
            Watcher first = known.watcher;
            port.role = known.with(
                    known.block,
                    first == null
                            ? w
                            : (value, thrown) -> {
                                first.ended(value, thrown);
                                w.ended(value, thrown);
                            });
            return true;
        } finally {
            port.unlock();
        }
    }

    /** Calls the watcher, once. The block has ended and has closed the port, so no watcher is added any more. */
    public static void ended(Channel port, Object value, Throwable thrown) {
        Watcher watcher = ((Result) port.role).watcher;
        if (watcher == null) return;
        port.lock(); // the inspector may be setting its entry
        Result known = (Result) port.role;
        port.role = known.with(known.block, null);
        port.unlock();
        watcher.ended(value, thrown);
    }

    /** Returns the inspector's entry for the block whose result {@code port} is, or null. */
    public static Object block(Channel port) {
        return port.role instanceof Result known ? known.block : null;
    }

    /** Sets the inspector's entry for the block. It must not hold the frame, or the frame would live as long as the port. */
    public static void block(Channel port, Object block) {
        port.lock();
        try {
            Result known = (Result) port.role;
            port.role = known.with(block, known.watcher);
        } finally {
            port.unlock();
        }
    }

    /** Returns the value that nobody has taken yet, or null. For inspection: the block may still run. */
    public static Object kept(Channel port) {
        port.lock();
        try {
            return port.buffer instanceof Buffers.Result result ? result.peek() : null;
        } finally {
            port.unlock();
        }
    }
}
