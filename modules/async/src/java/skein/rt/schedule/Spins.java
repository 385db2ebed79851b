// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

/**
 * Decides whether the next wait should spin, by how the last spins ended. After a spin in vain, the next wait does not
 * spin. Each further spin in vain doubles the number of waits that don't. If other programs hold the other processors, a
 * spin takes the time that the thread it waits for needs.
 */
public final class Spins {
    /** The most waits in a row that do not spin. */
    private static final int MOST_SKIPS = 64;

    // Hints shared by all threads, without a lock: a wrong value costs one spin more or less.
    private int skips; // how many of the next waits don't spin
    private int nextSkips = 1; // the skips after one more spin in vain

    /** Returns whether the next wait should spin. Each answer counts as a wait. */
    public boolean worthwhile() {
        if (skips <= 0) return true;
        skips--;
        return false;
    }

    /** A spin has ended, in vain unless {@code found}. */
    public void ended(boolean found) {
        if (found) {
            nextSkips = 1;
        } else {
            skips = nextSkips;
            nextSkips = Math.min(2 * nextSkips, MOST_SKIPS);
        }
    }
}
