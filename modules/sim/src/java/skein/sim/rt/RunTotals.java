// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Totals over the runs of an exploration. Mutable, since a run can take less than a microsecond. */
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
        virtualNanos = Math.max(virtualNanos, sim.endedAt());
        choices = Math.max(choices, sim.trace.choices());
        if (sim.sightings().isEmpty()) return;
        sim.sightings().forEach((claim, holds) -> sightings.merge(claim, holds, Boolean::logicalOr));
    }

    /** Returns how many runs differ from all runs before them. */
    public int distinct() {
        return seen.size();
    }

    /** Returns how many runs occurred only once. */
    public int once() {
        return seen.size() - seenAgain.size();
    }

    /** Returns how many steps the runs had. */
    public long steps() {
        return steps;
    }

    /** Returns how many steps the longest run had. */
    public long longest() {
        return longest;
    }

    /** Returns the most virtual time that passed in a run. */
    public long virtualNanos() {
        return virtualNanos;
    }

    /** Returns the most choices that a run had, at least 1. */
    public int choices() {
        return choices;
    }

    /** Returns each claim that something holds sometimes, and whether it has held. */
    public Map<String, Boolean> sightings() {
        return sightings;
    }
}
