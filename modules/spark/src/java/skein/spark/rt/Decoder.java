// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.ATransientSet;
import clojure.lang.BigInt;
import clojure.lang.ExceptionInfo;
import clojure.lang.IFn;
import clojure.lang.IObj;
import clojure.lang.IPersistentMap;
import clojure.lang.ITransientCollection;
import clojure.lang.ITransientMap;
import clojure.lang.Keyword;
import clojure.lang.MapEntry;
import clojure.lang.PersistentArrayMap;
import clojure.lang.PersistentHashMap;
import clojure.lang.PersistentHashSet;
import clojure.lang.PersistentList;
import clojure.lang.PersistentQueue;
import clojure.lang.PersistentTreeMap;
import clojure.lang.PersistentTreeSet;
import clojure.lang.PersistentVector;
import clojure.lang.RT;
import clojure.lang.Ratio;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.io.IOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Reads what {@link Encoder} wrote. Loads the namespaces that the names in it need. */
public final class Decoder {
    private final byte[] bytes;
    private int at;
    private final List<Object> names = new ArrayList<>();

    private Decoder(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Returns the value. Throws an ex-info with {@code :skein/far-namespace-missing} if there is no such var or class here. */
    public static Object decode(byte[] bytes) {
        return new Decoder(bytes).read();
    }

    private int tag() {
        return bytes[at++];
    }

    private long number() {
        long n = 0;
        for (int shift = 0; ; shift += 7) {
            byte b = bytes[at++];
            n |= (b & 0x7FL) << shift;
            if (b >= 0) return n;
        }
    }

    private int count() {
        return (int) number();
    }

    private long zigzag() {
        long n = number();
        return n >>> 1 ^ -(n & 1);
    }

    private long fixed(int width) {
        long n = 0;
        for (int i = 0; i < width; i++) n = n << 8 | bytes[at++] & 0xFF;
        return n;
    }

    private byte[] raw() {
        int length = count();
        at += length;
        return Arrays.copyOfRange(bytes, at - length, at);
    }

    private BigInteger integer() {
        return new BigInteger(raw());
    }

    private String text() {
        return (String) read();
    }

    private String text(int width) {
        char[] chars = new char[count()];
        for (int i = 0; i < chars.length; i++) chars[i] = (char) fixed(width);
        return new String(chars);
    }

    private Object read() {
        int tag = tag();
        return switch (tag) {
            case Tag.NIL -> null;
            case Tag.TRUE -> Boolean.TRUE;
            case Tag.FALSE -> Boolean.FALSE;
            case Tag.LONG -> zigzag();
            case Tag.DOUBLE -> Double.longBitsToDouble(fixed(8));
            case Tag.ASCII -> text(1);
            case Tag.TEXT -> text(2);
            case Tag.KEYWORD, Tag.SYMBOL -> name(tag);
            case Tag.AGAIN -> names.get(count());
            case Tag.VALUE_OF -> ((Var) Names.RESOLVE.invoke(read())).deref();
            case Tag.CALL -> call();
            case Tag.VAR -> Names.RESOLVE.invoke(read());
            case Tag.META -> withMeta();
            default -> tag <= Tag.QUEUE ? collection(tag) : tag <= Tag.BIG_DECIMAL ? scalar(tag) : other(tag);
        };
    }

    private Object name(int tag) {
        int number = names.size();
        names.add(null);
        String namespace = text();
        String name = text();
        Object read = tag == Tag.KEYWORD ? Keyword.intern(namespace, name) : Symbol.intern(namespace, name);
        names.set(number, read);
        return read;
    }

    private Object call() {
        IFn f = (IFn) Names.RESOLVE.invoke(read());
        return f.applyTo(RT.seq(Arrays.asList(objects(new Object[count()]))));
    }

    private Object withMeta() {
        IPersistentMap meta = (IPersistentMap) read();
        return ((IObj) read()).withMeta(meta);
    }

    private Object[] objects(Object[] array) {
        for (int i = 0; i < array.length; i++) array[i] = read();
        return array;
    }

    // A collection is built from its elements, in their order: hashes are those of this process.

    private Object collection(int tag) {
        switch (tag) {
            case Tag.ARRAY_MAP:
                return new PersistentArrayMap(objects(new Object[2 * count()]));
            case Tag.HASH_MAP: {
                ITransientMap map = PersistentHashMap.EMPTY.asTransient();
                for (int n = count(); n > 0; n--) map = map.assoc(read(), read());
                return map.persistent();
            }
            case Tag.SORTED_MAP: {
                Comparator<?> comparator = comparator();
                return PersistentTreeMap.create(comparator, RT.seq(objects(new Object[2 * count()])));
            }
            case Tag.HASH_SET: {
                ATransientSet set = (ATransientSet) PersistentHashSet.EMPTY.asTransient();
                for (int n = count(); n > 0; n--) set = (ATransientSet) set.conj(read());
                return set.persistent();
            }
            case Tag.SORTED_SET: {
                Comparator<?> comparator = comparator();
                return PersistentTreeSet.create(comparator, RT.seq(objects(new Object[count()])));
            }
            case Tag.VECTOR: {
                ITransientCollection vector = PersistentVector.EMPTY.asTransient();
                for (int n = count(); n > 0; n--) vector = vector.conj(read());
                return vector.persistent();
            }
            case Tag.ENTRY:
                return MapEntry.create(read(), read());
            case Tag.LIST: {
                List<Object> items = new ArrayList<>();
                while (tag() == 1) items.add(read());
                return PersistentList.create(items);
            }
            default: { // QUEUE
                PersistentQueue queue = PersistentQueue.EMPTY;
                for (int n = count(); n > 0; n--) queue = queue.cons(read());
                return queue;
            }
        }
    }

    private Comparator<?> comparator() {
        Comparator<?> comparator = (Comparator<?>) read();
        return comparator == null ? RT.DEFAULT_COMPARATOR : comparator;
    }

    private Object scalar(int tag) {
        return switch (tag) {
            case Tag.INT -> (int) zigzag();
            case Tag.SHORT -> (short) zigzag();
            case Tag.BYTE -> (byte) zigzag();
            case Tag.FLOAT -> Float.intBitsToFloat((int) fixed(4));
            case Tag.CHAR -> (char) number();
            case Tag.BIG_INT -> BigInt.fromBigInteger(integer());
            case Tag.BIG_INTEGER -> integer();
            case Tag.RATIO -> new Ratio(integer(), integer());
            default -> { // BIG_DECIMAL
                int scale = (int) zigzag();
                yield new BigDecimal(integer(), scale);
            }
        };
    }

    private Object other(int tag) {
        try {
            switch (tag) {
                case Tag.BYTES:
                    return raw();
                case Tag.PRIMITIVES:
                    return primitives();
                case Tag.OBJECTS:
                    return objects((Object[]) Array.newInstance(classOf(text()), count()));
                case Tag.CLASS:
                    return classOf(text());
                case Tag.ENUM:
                    return constant(classOf(text()), text());
                case Tag.COLLECTION:
                    return collection(empty());
                case Tag.MAP:
                    return map(empty());
                case Tag.JAVA:
                    return JavaBytes.read(raw());
                case Tag.BROKEN:
                    return broken();
                default:
                    throw new IllegalStateException("no tag " + tag);
            }
        } catch (IOException | ReflectiveOperationException | TypeNotPresentException e) {
            throw FarFailure.missing(e);
        }
    }

    /** Returns the class of this JVM descriptor, such as {@code J} or {@code Ljava/lang/String;}. */
    private static Class<?> classOf(String descriptor) {
        return MethodType.fromMethodDescriptorString("()" + descriptor, RT.baseLoader())
                .returnType();
    }

    private static Object constant(Class<?> type, String name) {
        for (Object constant : type.getEnumConstants()) {
            if (((Enum<?>) constant).name().equals(name)) return constant;
        }
        throw new IllegalStateException("no " + name + " in " + type);
    }

    private Object primitives() {
        int type = tag();
        int n = count();
        Object array = switch (type) {
            case 'J' -> new long[n];
            case 'I' -> new int[n];
            case 'D' -> new double[n];
            case 'F' -> new float[n];
            case 'S' -> new short[n];
            case 'C' -> new char[n];
            default -> new boolean[n];
        };
        for (int i = 0; i < n; i++) {
            switch (array) {
                case long[] ns -> ns[i] = fixed(8);
                case int[] ns -> ns[i] = (int) fixed(4);
                case double[] xs -> xs[i] = Double.longBitsToDouble(fixed(8));
                case float[] xs -> xs[i] = Float.intBitsToFloat((int) fixed(4));
                case short[] ns -> ns[i] = (short) fixed(2);
                case char[] cs -> cs[i] = (char) fixed(2);
                default -> ((boolean[]) array)[i] = tag() == 1;
            }
        }
        return array;
    }

    private Object empty() throws ReflectiveOperationException {
        return classOf(text()).getConstructor().newInstance();
    }

    @SuppressWarnings("unchecked") // made for values of any type
    private Object collection(Object empty) {
        Collection<Object> items = (Collection<Object>) empty;
        for (int n = count(); n > 0; n--) items.add(read());
        return items;
    }

    @SuppressWarnings("unchecked") // made for values of any type
    private Object map(Object empty) {
        Map<Object, Object> map = (Map<Object, Object>) empty;
        for (int n = count(); n > 0; n--) map.put(read(), read());
        return map;
    }

    /** Returns an exception with what could be sent of one that could not. */
    private Object broken() {
        String type = text();
        String message = text();
        Object data = read();
        StackTraceElement[] stack = new StackTraceElement[count()];
        for (int i = 0; i < stack.length; i++) stack[i] = new StackTraceElement(text(), text(), text(), (int) zigzag());
        ExceptionInfo error = FarFailure.broken(type, message, data, (Throwable) read());
        error.setStackTrace(stack);
        return error;
    }
}
