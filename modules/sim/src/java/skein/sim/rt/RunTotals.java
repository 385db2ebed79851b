// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** What the runs of an exploration had, all together. Mutable, since a run can take less than a microsecond. */
public final class RunTotals {
    private final Set<Long> seen = new HashSet<>(); // hashes of runs
    private final Set<Long> seenAgain = new HashSet<>();
    private final Map<String, Boolean> sightings = new LinkedHashMap<>();
    private long steps;
    private long longest;
    private long virtualNanos;
    private int choices = 1;

    /** Adds a run that has ended. */
    public void add(Simulation sim) {
        long hash = sim.trace.hash();
        if (!seen.add(hash)) seenAgain.add(hash);
        steps += sim.steps();
        longest = Math.max(longest, sim.steps());
        virtualNanos = Math.max(virtualNanos, sim.now());
        choices = Math.max(choices, sim.trace.choices());
        if (sim.sightings().isEmpty()) return;
        sim.sightings().forEach((claim, holds) -> sightings.merge(claim, holds, Boolean::logicalOr));
    }

    /** How many runs differ from all others before them. */
    public int distinct() {
        return seen.size();
    }

    /** How many runs came about once. */
    public int once() {
        return seen.size() - seenAgain.size();
    }

    /** How many steps the runs had. */
    public long steps() {
        return steps;
    }

    /** How many steps the longest run had. */
    public long longest() {
        return longest;
    }

    /** The most virtual time that passed in a run. */
    public long virtualNanos() {
        return virtualNanos;
    }

    /** The most choices that a run had, at least 1. */
    public int choices() {
        return choices;
    }

    /** What has been claimed to hold sometimes, and whether it has. */
    public Map<String, Boolean> sightings() {
        return sightings;
    }
}
