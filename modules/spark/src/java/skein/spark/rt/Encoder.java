// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.BigInt;
import clojure.lang.ExceptionInfo;
import clojure.lang.Fn;
import clojure.lang.IDeref;
import clojure.lang.IFn;
import clojure.lang.IObj;
import clojure.lang.IPersistentMap;
import clojure.lang.IPersistentVector;
import clojure.lang.IRecord;
import clojure.lang.ITransientCollection;
import clojure.lang.Keyword;
import clojure.lang.MapEntry;
import clojure.lang.MultiFn;
import clojure.lang.Named;
import clojure.lang.PersistentArrayMap;
import clojure.lang.PersistentHashMap;
import clojure.lang.PersistentHashSet;
import clojure.lang.PersistentQueue;
import clojure.lang.PersistentTreeMap;
import clojure.lang.PersistentTreeSet;
import clojure.lang.PersistentVector;
import clojure.lang.RT;
import clojure.lang.Ratio;
import clojure.lang.Sequential;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Encodes a value as bytes that another process can read with {@link Decoder}.
 *
 * <p>Java's serialization alone is not enough. It keeps the hashes of the process that a map comes from, and so loses keys that
 * are hashed by identity, such as enums. It makes a second {@code false}, which Clojure takes for true. It can't read a record
 * back, because Clojure defines its class in a loader of its own. Here maps and sets are built anew from their elements,
 * and a record by its constructor. A function is sent as the name of a var, or as a call of the var that makes it:
 * {@code skein.spark.names/name-of} finds either. Java's serialization encodes all other values.
 *
 * <p>Not for use by several threads.
 */
public final class Encoder {
    /** The deepest nesting of a value. Deeper values would overflow the stack of a thread of Spark. */
    static final int MAX_DEPTH = 1200;

    private static final Keyword STEP = Keyword.intern("step");
    private static final Keyword MADE = Keyword.intern("skein.fold", "made");
    private static final Set<Class<?>> COLLECTIONS =
            Set.of(ArrayList.class, LinkedList.class, ArrayDeque.class, HashSet.class, LinkedHashSet.class);
    private static final Set<Class<?>> MAPS = Set.of(HashMap.class, LinkedHashMap.class);

    private final WireBytes out;
    private final Map<Object, Integer> names = new HashMap<>();
    /** The place in the value that is being written: keys and indices from the outside in. */
    private final List<Object> path = new ArrayList<>();

    private Encoder(long maxBytes) {
        out = new WireBytes(maxBytes);
    }

    /**
     * Returns the bytes of {@code value}, at most {@code maxBytes} of them. Throws an ex-info with {@code :skein/unsendable},
     * {@code :skein/too-large}, or what {@code skein.spark.names/name-of} throws.
     */
    public static byte[] encode(Object value, long maxBytes) {
        Encoder encoder = new Encoder(maxBytes);
        try {
            encoder.write(value);
        } catch (StackOverflowError e) {
            throw FarFailure.tooDeep(encoder.path);
        }
        return encoder.out.toArray();
    }

    private void write(Object value) {
        if (value == null) out.tag(Tag.NIL);
        else if (value instanceof Boolean flag) out.tag(flag ? Tag.TRUE : Tag.FALSE);
        else if (value instanceof Long n) out.tag(Tag.LONG).zigzag(n);
        else if (value instanceof Double x) out.tag(Tag.DOUBLE).fixed(Double.doubleToRawLongBits(x), 8);
        else if (value instanceof String text) out.text(text);
        else if (value instanceof Keyword keyword) name(Tag.KEYWORD, keyword);
        else writeNested(value);
    }

    private void writeNested(Object value) {
        if (path.size() > MAX_DEPTH) {
            throw FarFailure.tooDeep(path);
        }
        Object name = nameOf(value);
        if (name != null) {
            writeName(name);
            return;
        }
        IPersistentMap meta = value instanceof IObj object && !(value instanceof Fn) ? object.meta() : null;
        if (meta != null) meta = meta.without(MADE); // the value was changed after the call that MADE records
        if (meta != null && meta.count() > 0) {
            out.tag(Tag.META);
            at(Keyword.intern("meta"), meta);
        }
        if (!(writeClojure(value) || writeNumber(value) || writeJava(value))) writeRest(value);
    }

    /** Writes what is found at {@code place} of the value that is being written. */
    private void at(Object place, Object value) {
        path.add(place);
        write(value);
        path.remove(path.size() - 1);
    }

    // Names of code.

    /** Returns a symbol, or a vector of a symbol and arguments, if {@code value} is or holds code; else null. */
    private Object nameOf(Object value) {
        boolean code = value instanceof Fn
                || value instanceof MultiFn
                || value instanceof IRecord
                || value instanceof IPersistentMap map
                        && !(value instanceof PersistentTreeMap)
                        && map.containsKey(STEP);
        return code ? Names.NAME_OF.invoke(value, PersistentVector.create(path)) : null;
    }

    private void writeName(Object name) {
        if (name instanceof Symbol symbol) {
            out.tag(Tag.VALUE_OF);
            write(symbol);
        } else {
            List<?> call = (List<?>) name;
            out.tag(Tag.CALL);
            write(call.get(0));
            out.number(call.size() - 1);
            for (int i = 1; i < call.size(); i++) at(call.get(0), call.get(i));
        }
    }

    private void name(int tag, Named named) {
        Integer number = names.putIfAbsent(named, names.size());
        if (number != null) {
            out.tag(Tag.AGAIN).number(number);
        } else {
            out.tag(tag);
            write(named.getNamespace());
            write(named.getName());
        }
    }

    // Clojure's collections.

    private boolean writeClojure(Object value) {
        if (value instanceof Symbol symbol) name(Tag.SYMBOL, symbol);
        else if (value instanceof PersistentArrayMap map) entries(out.tag(Tag.ARRAY_MAP), map);
        else if (value instanceof PersistentHashMap map) entries(out.tag(Tag.HASH_MAP), map);
        else if (value instanceof PersistentTreeMap map) {
            out.tag(Tag.SORTED_MAP);
            comparator(map.comparator());
            entries(out, map);
        } else if (value instanceof PersistentHashSet set) elements(out.tag(Tag.HASH_SET), set, set.count());
        else if (value instanceof PersistentTreeSet set) {
            out.tag(Tag.SORTED_SET);
            comparator(set.comparator());
            elements(out, set, set.count());
        } else if (value instanceof MapEntry entry) {
            out.tag(Tag.ENTRY);
            at("key", entry.key());
            at(entry.key(), entry.val());
        } else if (value instanceof IPersistentVector vector)
            elements(out.tag(Tag.VECTOR), (Iterable<?>) vector, vector.count());
        else if (value instanceof PersistentQueue queue) elements(out.tag(Tag.QUEUE), queue, queue.count());
        else if (value instanceof Sequential && value instanceof Iterable<?> items) list(items);
        else if (value instanceof Var var) {
            out.tag(Tag.VAR);
            write(var.toSymbol());
        } else return false;
        return true;
    }

    private void entries(WireBytes out, Map<?, ?> map) {
        out.number(map.size());
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            at("key", entry.getKey());
            at(entry.getKey(), entry.getValue());
        }
    }

    private void elements(WireBytes out, Iterable<?> items, int count) {
        out.number(count);
        long i = 0;
        for (Object item : items) at(i++, item);
    }

    /** A sequence may be lazy and endless, so its elements are not counted first. The limit of bytes ends it. */
    private void list(Iterable<?> items) {
        out.tag(Tag.LIST);
        long i = 0;
        for (Object item : items) {
            out.tag(1);
            at(i++, item);
        }
        out.tag(0);
    }

    private void comparator(Comparator<?> comparator) {
        at("comparator", comparator == RT.DEFAULT_COMPARATOR ? null : comparator);
    }

    // Numbers, arrays and collections of Java.

    private boolean writeNumber(Object value) {
        if (value instanceof Integer n) out.tag(Tag.INT).zigzag(n);
        else if (value instanceof Short n) out.tag(Tag.SHORT).zigzag(n);
        else if (value instanceof Byte n) out.tag(Tag.BYTE).zigzag(n);
        else if (value instanceof Float x) out.tag(Tag.FLOAT).fixed(Float.floatToRawIntBits(x), 4);
        else if (value instanceof Character c) out.tag(Tag.CHAR).number(c);
        else if (value instanceof BigInt n)
            out.tag(Tag.BIG_INT).bytes(n.toBigInteger().toByteArray());
        else if (value.getClass() == BigInteger.class)
            out.tag(Tag.BIG_INTEGER).bytes(((BigInteger) value).toByteArray());
        else if (value instanceof Ratio r) {
            out.tag(Tag.RATIO).bytes(r.numerator.toByteArray()).bytes(r.denominator.toByteArray());
        } else if (value.getClass() == BigDecimal.class) {
            BigDecimal x = (BigDecimal) value;
            out.tag(Tag.BIG_DECIMAL).zigzag(x.scale()).bytes(x.unscaledValue().toByteArray());
        } else return false;
        return true;
    }

    private boolean writeJava(Object value) {
        Class<?> type = value.getClass();
        if (value instanceof byte[] bytes) out.tag(Tag.BYTES).bytes(bytes);
        else if (type.isArray() && type.componentType().isPrimitive()) primitives(value, type.componentType());
        else if (value instanceof Object[] array) {
            out.tag(Tag.OBJECTS).text(type.componentType().descriptorString());
            elements(out, java.util.Arrays.asList(array), array.length);
        } else if (value instanceof Class<?> c) out.tag(Tag.CLASS).text(c.descriptorString());
        else if (value instanceof Enum<?> constant) {
            out.tag(Tag.ENUM)
                    .text(constant.getDeclaringClass().descriptorString())
                    .text(constant.name());
        } else if (COLLECTIONS.contains(type)) {
            elements(
                    out.tag(Tag.COLLECTION).text(type.descriptorString()),
                    (Collection<?>) value,
                    ((Collection<?>) value).size());
        } else if (MAPS.contains(type)) entries(out.tag(Tag.MAP).text(type.descriptorString()), (Map<?, ?>) value);
        else return false;
        return true;
    }

    private void primitives(Object array, Class<?> type) {
        int length = Array.getLength(array);
        out.tag(Tag.PRIMITIVES).tag(type.descriptorString().charAt(0)).number(length);
        for (int i = 0; i < length; i++) {
            switch (array) {
                case long[] ns -> out.fixed(ns[i], 8);
                case int[] ns -> out.fixed(ns[i], 4);
                case double[] xs -> out.fixed(Double.doubleToRawLongBits(xs[i]), 8);
                case float[] xs -> out.fixed(Float.floatToRawIntBits(xs[i]), 4);
                case short[] ns -> out.fixed(ns[i], 2);
                case char[] cs -> out.fixed(cs[i], 2);
                default -> out.tag(((boolean[]) array)[i] ? 1 : 0);
            }
        }
    }

    // All else.

    private void writeRest(Object value) {
        if (value instanceof Throwable error) {
            writeError(error);
        } else if (value instanceof IDeref || value instanceof ITransientCollection) {
            throw FarFailure.unsendable(
                    value,
                    path,
                    "It is a place whose content changes. Let the step's completion arity, or :complete, return what it holds.");
        } else if (!(value instanceof Serializable) || value instanceof IFn) {
            throw FarFailure.unsendable(value, path, "It belongs to this process. Send what it is made from.");
        } else {
            try {
                byte[] bytes = JavaBytes.of(value, out.room());
                out.tag(Tag.JAVA).bytes(bytes);
            } catch (ExceptionInfo e) {
                throw e;
            } catch (IOException | RuntimeException e) {
                throw FarFailure.unsendable(value, path, "Java can't serialize it: " + e + ".");
            }
        }
    }

    private void writeError(Throwable error) {
        byte[] bytes;
        try {
            bytes = JavaBytes.of(error, out.room());
        } catch (IOException | RuntimeException e) {
            writeBroken(error);
            return;
        }
        out.tag(Tag.JAVA).bytes(bytes);
    }

    private void writeBroken(Throwable error) {
        out.tag(Tag.BROKEN).text(error.getClass().getName());
        write(error.getMessage());
        write(error instanceof ExceptionInfo info ? Names.PREVIEW.invoke(info.getData()) : null);
        StackTraceElement[] stack = error.getStackTrace();
        out.number(stack.length);
        for (StackTraceElement frame : stack) {
            out.text(frame.getClassName()).text(frame.getMethodName());
            write(frame.getFileName());
            out.zigzag(frame.getLineNumber());
        }
        at("cause", error.getCause());
    }
}
