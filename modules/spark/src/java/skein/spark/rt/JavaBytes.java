// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.Fn;
import clojure.lang.IPersistentCollection;
import clojure.lang.RT;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;

/** Java's serialization, in which Clojure's collections and functions are encoded by {@link Encoder}. */
final class JavaBytes {
    private JavaBytes() {}

    static byte[] of(Object value, long maxBytes) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Out out = new Out(bytes, maxBytes)) {
            out.writeObject(value);
        }
        if (bytes.size() > maxBytes) throw FarFailure.tooLarge(maxBytes);
        return bytes.toByteArray();
    }

    static Object read(byte[] bytes) throws IOException, ClassNotFoundException {
        try (In in = new In(new ByteArrayInputStream(bytes))) {
            return in.readObject();
        }
    }

    /** Writes what Java can serialize, and puts Clojure's collections and functions into {@link Held}. */
    private static final class Out extends ObjectOutputStream {
        private final long maxBytes;

        Out(OutputStream out, long maxBytes) throws IOException {
            super(out);
            this.maxBytes = maxBytes;
            enableReplaceObject(true);
        }

        @Override
        protected Object replaceObject(Object value) {
            return value instanceof IPersistentCollection || value instanceof Fn ? new Held(value, maxBytes) : value;
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
    static final class Held implements Externalizable {
        private static final long serialVersionUID = 1;
        private transient Object value;
        private transient long maxBytes;

        /** For deserialization. */
        public Held() {}

        Held(Object value, long maxBytes) {
            this.value = value;
            this.maxBytes = maxBytes;
        }

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            byte[] bytes = Encoder.encode(value, maxBytes);
            out.writeInt(bytes.length);
            out.write(bytes);
        }

        @Override
        public void readExternal(ObjectInput in) throws IOException {
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            value = Decoder.decode(bytes);
        }

        private Object readResolve() {
            return value;
        }
    }
}
