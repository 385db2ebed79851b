// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.Fn;
import clojure.lang.IFn;
import clojure.lang.IPersistentCollection;
import clojure.lang.RT;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;
import java.io.Serializable;

/** Java's serialization, in which Clojure's collections and functions are encoded by skein.spark.codec. */
public final class JavaBytes {
    private JavaBytes() {}

    /** Returns the bytes of {@code value}. {@code encode} returns those of a Clojure value within it. */
    public static byte[] of(Object value, IFn encode) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Out out = new Out(bytes, encode)) {
            out.writeObject(value);
        }
        return bytes.toByteArray();
    }

    /** Returns the value of the bytes that {@link #of} has returned. */
    public static Object read(byte[] bytes) throws IOException, ClassNotFoundException {
        try (In in = new In(new ByteArrayInputStream(bytes))) {
            return in.readObject();
        }
    }

    /** Writes objects, with values of Clojure as {@link Held}. */
    private static final class Out extends ObjectOutputStream {
        private final IFn encode;

        Out(OutputStream out, IFn encode) throws IOException {
            super(out);
            this.encode = encode;
            enableReplaceObject(true);
        }

        @Override
        protected Object replaceObject(Object value) {
            return value instanceof IPersistentCollection || value instanceof Fn
                    ? new Held((byte[]) encode.invoke(value))
                    : value;
        }
    }

    /** Reads what {@link Out} has written. */
    private static final class In extends ObjectInputStream {
        In(InputStream in) throws IOException {
            super(in);
            enableResolveObject(true);
        }

        /** Clojure's loader knows the classes that Clojure code has defined. */
        @Override
        protected Class<?> resolveClass(ObjectStreamClass type) throws IOException, ClassNotFoundException {
            try {
                return Class.forName(type.getName(), false, RT.baseLoader());
            } catch (ClassNotFoundException e) {
                return super.resolveClass(type);
            }
        }

        /** To Clojure only one Boolean object is false. */
        @Override
        protected Object resolveObject(Object value) {
            return value instanceof Boolean flag ? (Object) Boolean.valueOf(flag) : value;
        }
    }

    /** A value of Clojure within an object of Java. */
    private record Held(byte[] bytes) implements Serializable {
        private Object readResolve() {
            return Names.var("skein.spark.codec/decode").invoke(bytes);
        }
    }
}
