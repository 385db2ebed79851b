// SPDX-License-Identifier: Apache-2.0
package skein.base;

import clojure.lang.IFn;
import clojure.lang.ISeq;
import clojure.lang.RT;
import clojure.lang.RestFn;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.util.Arrays;

/**
 * Starts a program that was compiled ahead of time: {@code java ... skein.base.Launch NAMESPACE ARGUMENT...} calls the
 * {@code -main} of a namespace.
 *
 * <p>Clojure looks for the class and the source of each namespace in all jars of the class path, and compares their times.
 * That opens every jar, which takes longer than most commands. Here, a namespace that has a class is loaded from it directly;
 * only the others reach {@code load} itself.
 */
public final class Launch {
    private Launch() {}

    /** Replaces {@code clojure.core/load}. RestFn is serializable, but this function is never serialized. */
    @SuppressWarnings("serial")
    private static final class Loading extends RestFn {
        private final IFn original;
        private final Var[] settings = {core("*ns*"), core("*warn-on-reflection*"), core("*unchecked-math*")};

        Loading(IFn original) {
            this.original = original;
        }

        @Override
        public int getRequiredArity() {
            return 0;
        }

        @Override
        protected Object doInvoke(Object paths) {
            for (ISeq rest = RT.seq(paths); rest != null; rest = rest.next()) {
                String path = (String) rest.first();
                if (!path.startsWith("/") || !loadClass(path)) original.invoke(path);
            }
            return null;
        }

        /** Returns whether there is a class for the namespace at {@code path}, such as {@code /skein/wf}. It is loaded then. */
        private boolean loadClass(String path) {
            // A namespace may set these while it is loaded.
            Object[] bindings = new Object[2 * settings.length];
            for (int i = 0; i < settings.length; i++) {
                bindings[2 * i] = settings[i];
                bindings[2 * i + 1] = settings[i].deref();
            }
            Var.pushThreadBindings(RT.mapUniqueKeys(bindings));
            try {
                Class.forName(path.substring(1).replace('/', '.') + "__init", true, Launch.class.getClassLoader());
                return true;
            } catch (ClassNotFoundException e) {
                return false;
            } finally {
                Var.popThreadBindings();
            }
        }
    }

    private static Var core(String name) {
        return RT.var("clojure.core", name);
    }

    /** Calls {@code -main} of the namespace that the first argument names with the others. */
    public static void main(String[] arguments) {
        Var load = core("load");
        load.bindRoot(new Loading((IFn) load.getRawRoot()));
        core("require").invoke(Symbol.intern(arguments[0]));
        RT.var(arguments[0], "-main").applyTo(RT.seq(Arrays.asList(arguments).subList(1, arguments.length)));
    }
}
