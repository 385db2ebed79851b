// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One take or put of a block that can be cancelled: it stands in the channel in place of the frame, and is completed
 * or withdrawn, whichever comes first.
 */
final class Wait extends Waiter implements Withdrawable {
  private static final VarHandle CLAIMED;

  static {
    try {
      CLAIMED = MethodHandles.lookup().findVarHandle(Wait.class, "claimed", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile boolean claimed; // volatile: claimed under the channel's lock, and by who cancels without it
  private final Frame owner;
  private final Channel channel;

  Wait(Frame owner, Channel channel) {
    this.owner = owner;
    this.channel = channel;
  }

  @Override boolean claim() {
    return !claimed && CLAIMED.compareAndSet(this, false, true);
  }

  @Override boolean active() {
    return !claimed;
  }

  @Override void complete(Object result, Runner runner) {
    owner.complete(result, runner);
  }

  @Override public boolean withdraw() {
    if (!claim()) return false;
    channel.withdraw(this); // if it has not come there yet, the channel won't let it in
    return true;
  }

  @Override public Frame frame() {
    return owner;
  }
}
