// SPDX-License-Identifier: Apache-2.0
package skein.inspect.heap;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A heap file of the JVM in the format of HPROF's manual, with identifiers of 8 bytes. Reading it makes an index of its objects.
 * Their fields are read from the file on demand.
 */
public final class HeapFile {
    private static final int TEXT = 0x01;
    private static final int LOAD_CLASS = 0x02;
    private static final int FRAME = 0x04;
    private static final int TRACE = 0x05;
    private static final int HEAP = 0x0c;
    private static final int HEAP_SEGMENT = 0x1c;
    private static final int HEAP_END = 0x2c;

    // Kinds of roots. The format is that of the JVM's heapDumper.cpp.
    private static final int ROOT_UNKNOWN = 0xff;
    private static final int ROOT_JNI_GLOBAL = 0x01;
    private static final int ROOT_JNI_LOCAL = 0x02;
    private static final int ROOT_JAVA_FRAME = 0x03;
    private static final int ROOT_NATIVE_STACK = 0x04;
    private static final int ROOT_STICKY_CLASS = 0x05;
    private static final int ROOT_THREAD_BLOCK = 0x06;
    private static final int ROOT_MONITOR = 0x07;
    private static final int ROOT_THREAD = 0x08;

    static final int CLASS = 0x20;
    static final int INSTANCE = 0x21;
    static final int OBJECTS = 0x22;
    private static final int PRIMITIVES = 0x23;
    /** The offset of the values of an instance, and of the elements of an array of objects, in their records. */
    static final int BODY = 25;

    /** A root of the JVM; {@code thread} is the number of the thread whose stack has it, or 0. */
    record Root(long object, int thread) {}

    /** A thread with its number in the file, and the number of its stack trace. */
    record Stack(long thread, int number, int trace) {}

    final MappedFile bytes;
    final Index index = new Index();
    final List<Root> roots = new ArrayList<>();
    final List<Stack> stacks = new ArrayList<>();
    private final Map<Long, Type> types = new HashMap<>();
    private final Map<Long, String> texts = new HashMap<>();
    private final Map<Long, Long> classNames = new HashMap<>();
    private final Map<Integer, Long> classNumbers = new HashMap<>();
    private final Map<Long, Long> frames = new HashMap<>(); // id to place
    private final Map<Integer, long[]> traces = new HashMap<>();
    private long millis;

    private HeapFile(MappedFile bytes) {
        this.bytes = bytes;
    }

    /**
     * Reads a file.
     *
     * @throws IllegalArgumentException with the reason, if it is not a heap file or is cut short
     */
    public static HeapFile read(Path path) throws IOException {
        HeapFile file = new HeapFile(new MappedFile(path));
        try {
            file.readAll();
        } catch (MappedFile.CutShort e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
            throw new IllegalArgumentException("it is damaged.", e);
        }
        return file;
    }

    private void readAll() {
        String magic = "JAVA PROFILE 1.0.";
        if (bytes.size < 31 || !Arrays.equals(bytes.copy(0, magic.length()), magic.getBytes(StandardCharsets.US_ASCII)))
            throw new IllegalArgumentException(
                    "it does not begin like a heap file. If it is a text dump, write one that can be read: ./skein dump PID x.edn.");
        if (bytes.i4(19) != 8) throw new IllegalArgumentException("it is from a 32-bit JVM.");
        millis = bytes.i8(23);
        boolean ended = false;
        for (long at = 31; at < bytes.size; ) {
            bytes.need(at, 9);
            int tag = bytes.u1(at);
            long length = bytes.u4(at + 5);
            long body = at + 9;
            bytes.need(body, length);
            if (tag == HEAP || tag == HEAP_SEGMENT) readObjects(body, body + length);
            else readRecord(tag, body, length);
            ended = tag == HEAP_END || tag == HEAP;
            at = body + length;
        }
        if (!ended) throw new MappedFile.CutShort(bytes.size);
        for (Type t : types.values()) {
            String name = texts.get(classNames.get(t.id));
            if (name != null) t.name = name.replace('/', '.');
            t.parent = types.get(bytes.i8(index.place(index.find(t.id)) + 13));
        }
    }

    private void readRecord(int tag, long at, long length) {
        switch (tag) {
            case TEXT ->
                texts.put(bytes.i8(at), new String(bytes.copy(at + 8, (int) length - 8), StandardCharsets.UTF_8));
            case LOAD_CLASS -> {
                classNumbers.put(bytes.i4(at), bytes.i8(at + 4));
                classNames.put(bytes.i8(at + 4), bytes.i8(at + 16));
            }
            case FRAME -> frames.put(bytes.i8(at), at);
            case TRACE -> {
                long[] ids = new long[bytes.i4(at + 8)];
                for (int i = 0; i < ids.length; i++) ids[i] = bytes.i8(at + 12 + 8L * i);
                traces.put(bytes.i4(at), ids);
            }
            default -> {} // nothing that is needed
        }
    }

    private void readObjects(long at, long end) {
        while (at < end) {
            int tag = bytes.u1(at);
            long id = bytes.i8(at + 1);
            switch (tag) {
                case ROOT_UNKNOWN, ROOT_STICKY_CLASS, ROOT_MONITOR -> at += root(id, 0, 9);
                case ROOT_JNI_GLOBAL -> at += root(id, 0, 17);
                case ROOT_JNI_LOCAL, ROOT_JAVA_FRAME -> at += root(id, bytes.i4(at + 9), 17);
                case ROOT_NATIVE_STACK, ROOT_THREAD_BLOCK -> at += root(id, bytes.i4(at + 9), 13);
                case ROOT_THREAD -> {
                    stacks.add(new Stack(id, bytes.i4(at + 9), bytes.i4(at + 13)));
                    at += root(id, bytes.i4(at + 9), 17);
                }
                case CLASS -> {
                    index.put(id, at);
                    at = readClass(id, at);
                }
                case INSTANCE -> {
                    index.put(id, at);
                    at += BODY + bytes.u4(at + 21);
                }
                case OBJECTS -> {
                    index.put(id, at);
                    at += BODY + 8 * bytes.u4(at + 13);
                }
                case PRIMITIVES -> {
                    index.put(id, at);
                    at += 18 + Type.SIZES[bytes.u1(at + 17)] * bytes.u4(at + 13);
                }
                default -> throw new IllegalArgumentException("it has a record of the unknown kind " + tag + ".");
            }
            bytes.need(at, 0);
        }
    }

    private int root(long object, int thread, int length) {
        roots.add(new Root(object, thread));
        return length;
    }

    /** Reads the record of a class. Returns where the record ends. */
    private long readClass(long id, long at) {
        Type type = new Type(id, bytes.i8(at + 21));
        types.put(id, type);
        long p = at + 65;
        int constants = bytes.u2(p);
        p += 2;
        for (int i = 0; i < constants; i++) p += 3 + Type.SIZES[bytes.u1(p + 2)];
        int statics = bytes.u2(p);
        p += 2;
        for (int i = 0; i < statics; i++) {
            int kind = bytes.u1(p + 8);
            if (kind == Type.REFERENCE) type.statics.add(new Type.Field(texts.get(bytes.i8(p)), kind, bytes.i8(p + 9)));
            p += 9 + Type.SIZES[kind];
        }
        int fields = bytes.u2(p);
        p += 2;
        for (int i = 0; i < fields; i++) {
            type.own.add(new Type.Field(texts.get(bytes.i8(p)), bytes.u1(p + 8), 0));
            p += 9;
        }
        return p;
    }

    // Reading objects

    /** Returns the time when the file was begun, in milliseconds since 1970. */
    public long millis() {
        return millis;
    }

    /** Returns how many objects there are. */
    public int size() {
        return index.size();
    }

    /** Returns the type of the instance at {@code place}. */
    Type typeAt(long place) {
        return types.get(bytes.i8(place + 13));
    }

    Type typeOfClass(long id) {
        return types.get(id);
    }

    Iterable<Type> types() {
        return types.values();
    }

    private Type type(long id) {
        int slot = index.find(id);
        return slot < 0 || bytes.u1(index.place(slot)) != INSTANCE ? null : typeAt(index.place(slot));
    }

    /** Returns the name of the class of an instance, or null when {@code id} is none. */
    public String className(long id) {
        Type type = type(id);
        return type == null ? null : type.name;
    }

    /** Returns whether the program has a class of that name. */
    public boolean hasClass(String name) {
        return types.values().stream().anyMatch(t -> t.name.equals(name));
    }

    /** Returns the objects in the static fields of the class of an instance, by the names of the fields. */
    public Map<String, Long> statics(long id) {
        Map<String, Long> values = new HashMap<>();
        Type type = type(id);
        if (type != null) for (Type.Field f : type.statics) values.put(f.name(), f.value());
        return values;
    }

    /** Returns whether the instance is of the class of that name, or of a subclass. */
    public boolean isA(long id, String name) {
        Type type = type(id);
        return type != null && type.isA(name);
    }

    /** Returns the instances of each of the named classes and of their subclasses, in the order of the names. */
    public List<long[]> instances(List<String> names) {
        List<List<Long>> found = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) found.add(new ArrayList<>());
        Map<Type, Integer> which = new HashMap<>();
        for (Type t : types.values()) for (int i = 0; i < names.size(); i++) if (t.isA(names.get(i))) which.put(t, i);
        for (int slot = 0; slot < index.slots(); slot++) {
            if (index.id(slot) == 0 || bytes.u1(index.place(slot)) != INSTANCE) continue;
            Integer i = which.get(typeAt(index.place(slot)));
            if (i != null) found.get(i).add(index.id(slot));
        }
        List<long[]> sorted = new ArrayList<>();
        for (List<Long> ids : found)
            sorted.add(ids.stream().mapToLong(Long::longValue).sorted().toArray());
        return sorted;
    }

    /** Returns the field of an instance as a number, or 0 when there is no such field or instance. A reference is the id of an object. */
    public long field(long id, String name) {
        Type type = type(id);
        Type.Field field = type == null ? null : type.field(name);
        if (field == null) return 0;
        long at = index.place(index.find(id)) + BODY + field.value();
        return switch (Type.SIZES[field.type()]) {
            case 1 -> (byte) bytes.u1(at);
            case 2 -> (short) bytes.u2(at);
            case 4 -> bytes.i4(at);
            default -> bytes.i8(at);
        };
    }

    /** Returns whether instances of the class of {@code id} have the field. */
    public boolean hasField(long id, String name) {
        Type type = type(id);
        return type != null && type.field(name) != null;
    }

    /** Returns the elements of an array of objects; none when {@code id} is no such array. */
    public long[] elements(long id) {
        int slot = index.find(id);
        if (slot < 0 || bytes.u1(index.place(slot)) != OBJECTS) return new long[0];
        long place = index.place(slot);
        long[] elements = new long[bytes.i4(place + 13)];
        for (int i = 0; i < elements.length; i++) elements[i] = bytes.i8(place + BODY + 8L * i);
        return elements;
    }

    /** Returns the characters of a String of the program, or null. */
    public String text(long id) {
        int slot = index.find(field(id, "value"));
        if (slot < 0 || bytes.u1(index.place(slot)) != PRIMITIVES) return null;
        long place = index.place(slot);
        byte[] value = bytes.copy(place + 18, bytes.i4(place + 13));
        return new String(value, field(id, "coder") == 0 ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_16LE);
    }

    // Threads

    /** Returns the number of a thread whose stack the file has, or 0. */
    public int threadNumber(long thread) {
        for (Stack s : stacks) if (s.thread == thread) return s.number;
        return 0;
    }

    /** Returns the stack of a thread; empty when the file does not have it. */
    public StackTraceElement[] stack(long thread) {
        for (Stack s : stacks) {
            if (s.thread != thread) continue;
            long[] ids = traces.getOrDefault(s.trace, new long[0]);
            StackTraceElement[] elements = new StackTraceElement[ids.length];
            for (int i = 0; i < ids.length; i++) elements[i] = element(frames.get(ids[i]));
            return elements;
        }
        return new StackTraceElement[0];
    }

    private StackTraceElement element(Long place) {
        if (place == null) return new StackTraceElement("?", "?", null, -1);
        Type type = types.get(classNumbers.get(bytes.i4(place + 32)));
        return new StackTraceElement(
                type == null ? "?" : type.name,
                texts.getOrDefault(bytes.i8(place + 8), "?"),
                texts.get(bytes.i8(place + 24)),
                bytes.i4(place + 36));
    }
}
