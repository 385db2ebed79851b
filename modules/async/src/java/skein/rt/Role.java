// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * What more a channel is than a queue of values: a {@link Transducer}, an {@link Unlimited}, a {@link Result} or a {@link
 * skein.rt.schedule.Timeout}. All channels have one class, as libraries expect that compare the classes of two channels.
 */
public class Role {
    Runnable putWaits; // guarded by the channel's lock; run once when a put waits, or null

    /** The channel is about to be closed, perhaps not for the first time. */
    protected void closing() {}

    /** Returns this, or a copy if other channels have it too. */
    Role unshared() {
        return this;
    }
}
