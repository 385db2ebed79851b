// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import clojure.lang.IPersistentMap;
import clojure.lang.Keyword;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.RT;
import clojure.lang.Symbol;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Packs data as bytes, to send it from one process to another: nil, booleans, whole numbers, doubles, strings, keywords, symbols,
 * maps, and collections, which come back as vectors.
 *
 * <p>A snapshot of 100,000 blocks is mostly maps with the same few sets of keys, and the same few places in the source. So
 * each name, each set of keys and each place is written once, and then by its number. A place that two blocks share is one
 * object after unpacking, too.
 */
public final class Packing {
    private static final int NIL = 0,
            FALSE = 1,
            TRUE = 2,
            LONG = 3,
            DOUBLE = 4,
            STRING = 5,
            KEYWORD = 6,
            SYMBOL = 7,
            VECTOR = 8;
    private static final int NEW_KEYS = 9, MAP = 10, NEW_PLACE = 11, KNOWN = 12;
    private static final Keyword SITE = Keyword.intern("site");

    private Packing() {}

    /** Returns {@code data} as bytes. */
    public static byte[] pack(Object data) {
        Writer writer = new Writer();
        writer.write(data);
        return Arrays.copyOf(writer.out, writer.at);
    }

    /** Returns the data that {@link #pack} has packed. */
    public static Object unpack(byte[] bytes) {
        return new Reader(bytes).read();
    }

    /** The bytes so far, and the numbers of names, keys and places that were written. */
    private static final class Writer {
        byte[] out = new byte[1 << 16];
        int at;
        private final Map<Object, Integer> known = new HashMap<>(); // names, and lists of keys
        private final Map<Object, Integer> places = new IdentityHashMap<>();
        private final List<Object> keys = new ArrayList<>(); // of the map that is written

        void write(Object x) {
            if (x == null) put(NIL);
            else if (x instanceof Boolean b) put(b ? TRUE : FALSE);
            else if (x instanceof Long || x instanceof Integer) number(LONG, ((Number) x).longValue());
            else if (x instanceof Double d) number(DOUBLE, Double.doubleToRawLongBits(d));
            else if (x instanceof String || x instanceof Keyword || x instanceof Symbol) name(x);
            else if (x instanceof IPersistentMap map) map(map);
            else if (x instanceof Collection<?> all) {
                number(VECTOR, all.size());
                for (Object each : all) write(each);
            } else throw new IllegalArgumentException("can't pack " + x.getClass());
        }

        private void name(Object x) {
            Integer number = known.get(x);
            if (number != null) {
                number(KNOWN, number);
                return;
            }
            byte[] text = (x instanceof Keyword k ? k.sym.toString() : x.toString()).getBytes(StandardCharsets.UTF_8);
            number(x instanceof String ? STRING : x instanceof Keyword ? KEYWORD : SYMBOL, text.length);
            room(text.length);
            System.arraycopy(text, 0, out, at, text.length);
            at += text.length;
            known.put(x, known.size() + places.size());
        }

        private void map(IPersistentMap map) {
            keys.clear();
            for (Object e : map) keys.add(((Map.Entry<?, ?>) e).getKey());
            Integer number = known.get(keys);
            if (number != null) {
                number(MAP, number);
            } else {
                List<Object> own = List.copyOf(keys);
                number(NEW_KEYS, own.size());
                own.forEach(this::write);
                known.put(own, known.size() + places.size());
            }
            for (Object o : map) {
                Map.Entry<?, ?> e = (Map.Entry<?, ?>) o;
                if (e.getKey() == SITE && e.getValue() != null) place(e.getValue());
                else write(e.getValue());
            }
        }

        private void place(Object place) {
            Integer number = places.get(place);
            if (number != null) {
                number(KNOWN, number);
                return;
            }
            put(NEW_PLACE);
            write(place);
            places.put(place, known.size() + places.size());
        }

        /** Writes seven bits to a byte, the lowest first. The lowest bit of all is the sign. */
        private void number(int kind, long n) {
            put(kind);
            long left = n << 1 ^ n >> 63;
            for (; (left & ~0x7fL) != 0; left >>>= 7) put((int) left | 0x80);
            put((int) left);
        }

        private void put(int b) {
            room(1);
            out[at++] = (byte) b;
        }

        private void room(int n) {
            if (out.length - at < n) out = Arrays.copyOf(out, Math.max(2 * out.length, at + n));
        }
    }

    /** The bytes, and the names, keys and places that were read, by number. */
    private static final class Reader {
        private final byte[] in;
        private int at;
        private final List<Object> known = new ArrayList<>();

        Reader(byte[] in) {
            this.in = in;
        }

        Object read() {
            int kind = in[at++];
            return switch (kind) {
                case NIL -> null;
                case FALSE -> false;
                case TRUE -> true;
                case LONG -> number();
                case DOUBLE -> Double.longBitsToDouble(number());
                case STRING -> keep(text());
                case KEYWORD -> keep(Keyword.intern(Symbol.intern(text())));
                case SYMBOL -> keep(Symbol.intern(text()));
                case VECTOR -> LazilyPersistentVector.createOwning(several((int) number()));
                case NEW_KEYS -> map((Object[]) keep(several((int) number())));
                case MAP -> map((Object[]) known.get((int) number()));
                case NEW_PLACE -> keep(read());
                case KNOWN -> known.get((int) number());
                default -> throw new IllegalArgumentException("no packed data: " + kind + " at " + at);
            };
        }

        private Object keep(Object x) {
            known.add(x);
            return x;
        }

        private Object[] several(int n) {
            Object[] all = new Object[n];
            for (int i = 0; i < n; i++) all[i] = read();
            return all;
        }

        private Object map(Object[] keys) {
            Object[] entries = new Object[2 * keys.length];
            for (int i = 0; i < keys.length; i++) {
                entries[2 * i] = keys[i];
                entries[2 * i + 1] = read();
            }
            return RT.mapUniqueKeys(entries);
        }

        private String text() {
            int length = (int) number();
            at += length;
            return new String(in, at - length, length, StandardCharsets.UTF_8);
        }

        private long number() {
            long n = 0;
            for (int shift = 0; ; shift += 7) {
                byte b = in[at++];
                n |= (b & 0x7fL) << shift;
                if (b >= 0) return n >>> 1 ^ -(n & 1);
            }
        }
    }
}
