// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import clojure.lang.IFn;
import clojure.lang.RT;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** What a run must fulfil, what speaks against it, and the verdict. The first reason to fail counts. */
final class Judge {
    /** A claim of the test that something holds always, or sometimes. */
    private record Claim(IFn predicate, String message, boolean always) {}

    /** An exception that some code may still ask for; early: nothing else had failed before. */
    private record Kept(Throwable thrown, BooleanSupplier observed, boolean early) {}

    private final List<Claim> claims = new ArrayList<>(0);
    private final Map<String, Boolean> sightings = new LinkedHashMap<>(0);
    private final List<Kept> kept = new ArrayList<>(0);
    private final List<Throwable> uncaught = new ArrayList<>(0); // before anything else failed
    private final List<Throwable> rethrown = new ArrayList<>(0);
    private Verdict verdict;

    void claim(IFn predicate, String message, boolean always) {
        claims.add(new Claim(predicate, message, always));
    }

    boolean hasClaims() {
        return !claims.isEmpty();
    }

    /** Calls the predicates of the claims. Returns how one that must always hold fails, or null. */
    Verdict broken() {
        Verdict broken = null;
        try {
            for (Claim claim : claims) {
                boolean holds = RT.booleanCast(claim.predicate.invoke());
                if (!claim.always) sightings.merge(claim.message, holds, Boolean::logicalOr);
                else if (!holds && broken == null) broken = new Verdict(Verdict.Kind.NEVER, claim.message);
            }
        } catch (Throwable t) { // the user's predicate
            if (broken == null) broken = new Verdict(Verdict.Kind.EXCEPTION, t);
        }
        return broken;
    }

    void sighted(String what) {
        sightings.put(what, true);
    }

    /** Returns each claim that something holds sometimes, and whether it has held. */
    Map<String, Boolean> sightings() {
        return sightings;
    }

    /** No code can catch {@code thrown}, unless it is rethrown. */
    void uncaught(Throwable thrown) {
        if (verdict == null) uncaught.add(thrown);
    }

    void rethrown(Throwable thrown) {
        rethrown.add(thrown);
    }

    /** {@code thrown} is kept until code takes it. */
    void kept(Throwable thrown, BooleanSupplier observed) {
        kept.add(new Kept(thrown, observed, verdict == null));
    }

    void fails(Verdict.Kind kind, Object cause) {
        if (verdict == null) verdict = new Verdict(kind, cause);
    }

    /** Returns why the run has failed, or null. */
    Verdict verdict() {
        return verdict;
    }

    /** The run has come to an end: an exception that nobody takes comes before the failures that may be its consequences. */
    void putCausesFirst() {
        Throwable first = firstUncaught();
        if (first != null) verdict = new Verdict(Verdict.Kind.UNCAUGHT, first);
    }

    private Throwable firstUncaught() {
        for (Throwable t : uncaught) if (rethrown.stream().noneMatch(r -> r == t)) return t;
        for (Kept k : kept) if (k.early && !k.observed.getAsBoolean()) return k.thrown;
        return null;
    }

    /** Fails for an exception that is still kept. */
    void checkKept() {
        for (Kept k : kept) if (!k.observed.getAsBoolean()) fails(Verdict.Kind.UNCAUGHT, k.thrown);
    }
}
