// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * The result of a block: a channel for one value that closes when the block ends. It makes its buffer only
 * when nobody waits for the value, and can carry the exception that ended the block.
 */
public final class Port extends Channel {
  private volatile Failure failure; // written before the port closes

  Port() {
    super(null);
  }

  /** Somebody puts on a result port: it behaves as a channel with a buffer of one. */
  @Override Buffer bufferForPut() {
    if (buffer == null) buffer = new Buffers.Fixed(1);
    return buffer;
  }

  /** Gives the block's value to whoever waits for it, or keeps it; then closes. */
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
  Waiter firstWaiting() {
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
    failure = Failure.of(this, thrown);
    close();
  }

  /** The exception that ended the block, or null. Asking makes it observed. */
  @Override public Throwable thrown() {
    Failure f = failure;
    return f == null ? super.thrown() : f.observe();
  }
}
