// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import clojure.lang.IPersistentMap;
import clojure.lang.IPersistentVector;
import clojure.lang.Keyword;
import clojure.lang.RT;
import clojure.lang.Symbol;
import java.util.HashMap;
import java.util.Map;

/** The places where the blocks of one form park, read from their code once. */
public final class Sites {
    /**
     * One place where a block parks.
     *
     * @param operation as in the source, without namespace, such as {@code <!}
     * @param line from 1, or -1 if it is not known; the same for the column
     * @param form the source of the operation, perhaps shortened
     * @param inTry whether a catch or finally clause around it runs when it throws
     */
    public record Site(String file, Symbol operation, int line, int column, String form, boolean inTry) {}

    private static final Keyword FILE = Keyword.intern(null, "file");
    private static final Keyword SITES = Keyword.intern(null, "sites");

    // One cell per class of bodies, which is garbage when the class is.
    private static final ClassValue<Sites[]> CELLS = new ClassValue<>() {
        @Override
        protected Sites[] computeValue(Class<?> type) {
            return new Sites[1];
        }
    };

    private final String file;
    private final Map<Integer, Site> sites = new HashMap<>();

    private Sites(Body body) {
        Object table = body.sites();
        file = (String) RT.get(table, FILE);
        if (!(RT.get(table, SITES) instanceof IPersistentMap states)) return;
        for (Object entry : states) {
            int state = RT.intCast(((Map.Entry<?, ?>) entry).getKey());
            IPersistentVector site = (IPersistentVector) ((Map.Entry<?, ?>) entry).getValue();
            sites.put(
                    state,
                    new Site(
                            file,
                            (Symbol) site.nth(0),
                            number(site.nth(1)),
                            number(site.nth(2)),
                            (String) site.nth(3),
                            site.count() > 4));
        }
    }

    private static int number(Object n) {
        return n == null ? -1 : RT.intCast(n);
    }

    /** Returns the sites of {@code body}, which are those of all blocks of its form. */
    public static Sites of(Body body) {
        Sites[] cell = CELLS.get(body.getClass());
        Sites known =
                cell[0]; // two threads may read the sites at once, with the same result; the fields of Sites are final
        if (known == null) cell[0] = known = new Sites(body);
        return known;
    }

    /** Returns the place of a block with the state {@code state}, or null before its first park. */
    public Site at(int state) {
        return sites.get(state);
    }

    /** Returns the file of the block's source, or null. */
    public String file() {
        return file;
    }
}
