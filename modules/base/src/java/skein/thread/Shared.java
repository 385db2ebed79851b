// SPDX-License-Identifier: Apache-2.0
package skein.thread;

/**
 * A platform thread on which many tasks take turns, so that one which takes long should rather go on elsewhere. Virtual threads
 * are the same to each other on their carrier.
 */
public interface Shared {
  /** Whether the calling thread is one of these, or virtual. */
  static boolean isHere() {
    Thread here = Thread.currentThread();
    return here.isVirtual() || here instanceof Shared;
  }
}
