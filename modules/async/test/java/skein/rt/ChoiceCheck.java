// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.PersistentVector;
import java.util.ArrayDeque;
import java.util.List;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/**
 * Lincheck: an alts over two channels happens at one instant, wins at most once, and leaves no arm behind. Checks C1 and C2. Both
 * channels are unbuffered, so every value has to meet a take.
 */
@Param(name = "value", gen = IntGen.class, conf = "1:2")
public class ChoiceCheck {
    private final Channel a = new Channel(null);
    private final Channel b = new Channel(null);

    private String choose(Object... ops) {
        Object chosen = Alts.choose(PersistentVector.create(ops), null, new ChannelCheck.Ignored(), null);
        return chosen == null ? "waits" : String.valueOf(((List<?>) chosen).get(0));
    }

    @Operation
    public String takeEither() {
        return choose(a, b);
    }

    @Operation
    public String takeOrPut(@Param(name = "value") int v) {
        return choose(a, PersistentVector.create(b, v));
    }

    @Operation
    public String offerA(@Param(name = "value") int v) {
        return ChannelCheck.show(a.put(v, null, null));
    }

    @Operation
    public String offerB(@Param(name = "value") int v) {
        return ChannelCheck.show(b.put(v, null, null));
    }

    @Operation
    public String pollB() {
        return ChannelCheck.show(b.take(null, null));
    }

    /** The obvious pair of channels: a list of choices that wait, oldest first. */
    public static class Model {
        /** One choice that waits: to take from either, or from a and to put this on b. */
        private record Waiting(Integer putsOnB) {}

        private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

        private Waiting first(boolean takerOfB) {
            for (Waiting w : waiting) {
                if ((w.putsOnB == null) == takerOfB) {
                    waiting.remove(w);
                    return w;
                }
            }
            return null;
        }

        public String takeEither() {
            Waiting w = first(false);
            if (w != null) return String.valueOf(w.putsOnB);
            waiting.add(new Waiting(null));
            return "waits";
        }

        public String takeOrPut(int v) {
            if (first(true) != null) return "true";
            waiting.add(new Waiting(v));
            return "waits";
        }

        public String offerA(int v) {
            return waiting.poll() == null ? "waits" : "true";
        }

        public String offerB(int v) {
            return first(true) == null ? "waits" : "true";
        }

        public String pollB() {
            Waiting w = first(false);
            return w == null ? "waits" : String.valueOf(w.putsOnB);
        }
    }
}
