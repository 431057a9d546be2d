// SPDX-License-Identifier: GPL-3.0-or-later
// One build everywhere: what `verify`, `bench`, `run`, `deploy` and the window run is, byte for
// byte, what `tenon compile` writes for the same target and options.
#include "app/engine/engine.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/need_qt.h"
#include "tests/support/sshd.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

namespace {

struct Model
{
    const char* name;
    const char* text;
    const char* shape;         ///< of its input `x` in the data
    const char* bindings = ""; ///< as --shape takes them
};

constexpr Model kModels[] = {
    {"elementwise", "input x float32 2,8\nnode Relu r x -> a\nnode Tanh t a -> y\n", "2,8"},
    {"conv",
     "input x float32 1,3,8,8\ninit w float32 4,3,3,3\n"
     "node Conv c x,w -> a pads=[1,1,1,1]\nnode Relu r a -> y\n",
     "1,3,8,8"},
    {"depthwise",
     "input x float32 1,8,8,8\ninit w float32 8,1,3,3\n"
     "node Conv c x,w -> y pads=[1,1,1,1] group=8\n",
     "1,8,8,8"},
    {"dense",
     "input x float32 1,16\ninit w float32 16,8\nnode MatMul m x,w -> a\n"
     "node Softmax s a -> y axis=1\n",
     "1,16"},
    {"pool",
     "input x float32 1,4,8,8\nnode MaxPool p x -> a kernel_shape=[2,2] strides=[2,2]\n"
     "node GlobalAveragePool g a -> y\n",
     "1,4,8,8"},
    {"moves",
     "input x float32 2,3,4\nnode Transpose t x -> a perm=[0,2,1]\n"
     "node Concat c a,a -> y axis=1\n",
     "2,3,4"},
    {"quantized",
     "input x float32 1,16\ninit w float32 16,8\nfloats s float32 1 = 0.05\n"
     "node QuantizeLinear q1 x,s -> qa\nnode DequantizeLinear d1 qa,s -> a\n"
     "node MatMul m a,w -> b\nnode QuantizeLinear q2 b,s -> qb\n"
     "node DequantizeLinear d2 qb,s -> y\n",
     "1,16"},
    {"open", "input x float32 batch,8\ninit w float32 8,4\nnode MatMul m x,w -> y\n", "3,8",
     "batch=3"},
    {"bounded", "input x float32 batch,8\nnode Relu r x -> a\nnode Softmax s a -> y axis=1\n",
     "3,8", "batch=1..4"},
    {"reduced",
     "input x float32 4,6\nnode ReduceMean r x -> a axes=[1] keepdims=0\n"
     "node Exp e a -> y\n",
     "4,6"},
};

struct Place
{
    const char* target;
    const char* emulator; ///< empty: this computer
    const char* compiler;
};

constexpr Place kPlaces[] = {
    {"llvm -mcpu=native", "", ""},
    {"llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=2", "qemu-aarch64",
     "aarch64-linux-gnu-gcc"},
    {"llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c", "qemu-riscv64",
     "riscv64-linux-gnu-gcc"},
};

} // namespace

class ArtifactTest : public QObject
{
    Q_OBJECT

private:
    QString file(const QString& name) const { return m_folder.filePath(name); }

    /// The standard output of tenon; the environment is that of the whole test.
    QByteArray tenon(const QStringList& arguments, int* exitCode = nullptr)
    {
        QProcess process;
        process.setProcessEnvironment(m_environment);
        process.start(QStringLiteral(TENON_PROGRAM), arguments);
        if (!process.waitForFinished(120000)) return {};
        m_errors = process.readAllStandardError();
        if (exitCode) *exitCode = process.exitCode();
        return process.readAllStandardOutput();
    }
    QJsonObject json(QStringList arguments)
    {
        arguments << QStringLiteral("--json");
        return QJsonDocument::fromJson(tenon(arguments)).object();
    }
    static QString digestOf(const QString& path)
    {
        QFile file(path);
        if (!file.open(QIODevice::ReadOnly)) return {};
        return QString::fromLatin1(
            QCryptographicHash::hash(file.readAll(), QCryptographicHash::Sha256).toHex());
    }
    static bool write(const QString& path, const std::string& content)
    {
        QFile file(path);
        return file.open(QIODevice::WriteOnly) &&
               file.write(content.data(), static_cast<qint64>(content.size())) ==
                   static_cast<qint64>(content.size());
    }
    /// A folder as `verify` wants it; the reference outputs are those of a run here.
    void writeCase(const Model& model)
    {
        const QString folder = file(QLatin1String(model.name));
        QVERIFY(QDir().mkpath(folder + QStringLiteral("/test_data_set_0")));
        const std::string text = std::string("opset 13\n") + model.text + "output y float32 *\n";
        QVERIFY(
            write(folder + QStringLiteral("/model.onnx"), test::modelOf(text).SerializeAsString()));
        tenon_onnx::TensorProto tensor;
        tensor.set_name("x");
        tensor.set_data_type(tenon_onnx::TensorProto::FLOAT);
        int count = 1;
        for (const QString& size : QString::fromLatin1(model.shape).split(QLatin1Char(','))) {
            tensor.add_dims(size.toInt());
            count *= size.toInt();
        }
        for (int i = 0; i < count; ++i)
            tensor.add_float_data(static_cast<float>((i * 37) % 64) / 32.0F - 1.0F);
        const QString input = folder + QStringLiteral("/test_data_set_0/input_0.pb");
        QVERIFY(write(input, tensor.SerializeAsString()));
        int code = 0;
        tenon(QStringList{QStringLiteral("run"), pathOf(model), QStringLiteral("--inputs"), input,
                          QStringLiteral("--outputs"), folder + QStringLiteral("/out")} +
                  bindings(model),
              &code);
        QVERIFY2(code == 0, m_errors.constData());
        QVERIFY(QFile::copy(folder + QStringLiteral("/out/output_0.pb"),
                            folder + QStringLiteral("/test_data_set_0/output_0.pb")));
    }
    QString pathOf(const Model& model) const
    {
        return file(QLatin1String(model.name)) + QStringLiteral("/model.onnx");
    }
    static QStringList bindings(const Model& model)
    {
        if (!*model.bindings) return {};
        return {QStringLiteral("--shape"), QLatin1String(model.bindings)};
    }
    /// What `tenon compile` writes: its digest as it says, which is that of the file.
    QString compiled(const Model& model, const QStringList& options)
    {
        const QString out = file(QStringLiteral("compiled.so"));
        QFile::remove(out);
        const QString said =
            json(QStringList{QStringLiteral("compile"), pathOf(model), QStringLiteral("-o"), out} +
                 options + bindings(model))
                .value(QStringLiteral("sha256"))
                .toString();
        return said == digestOf(out) ? said : QStringLiteral("not that of the file");
    }
    views::Engine window() const
    {
        EngineOptions options;
        options.cacheFolder = file(QStringLiteral("cache/tenon/kernels"));
        options.configFolder = file(QStringLiteral("config"));
        options.kernels = compiler::workerKernelService(TENON_PROGRAM);
        options.repeats = 1;
        return makeEngine(options);
    }
    /// What the window deploys to this computer, and what it saves.
    void compareWindow(const Model& model, const Place& place, const QString& wanted)
    {
        const views::Engine engine = window();
        views::BuildOptions build;
        build.target = QLatin1String(place.target);
        build.shapes = QLatin1String(model.bindings);
        core::JobContext job(2);
        const auto document = engine.open(
            pathOf(model), build, [](const auto&) {}, job);
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        const views::DeployOutcome outcome = engine.boards.deploy(
            {*document, QStringLiteral("local"), build}, {}, [](const auto&) {}, job);
        QVERIFY2(!outcome.error, outcome.error ? outcome.error->text().c_str() : "");
        QCOMPARE(outcome.report.sha256, wanted);
        QCOMPARE(outcome.document->measurement->sha256, wanted);
        const QString saved = file(QStringLiteral("saved.so"));
        const auto kept = engine.save(*document, build, saved, job);
        QVERIFY2(kept, kept ? "" : kept.error().text().c_str());
        QCOMPARE(digestOf(saved), wanted);
    }

private slots:
    void initTestCase()
    {
        m_environment = QProcessEnvironment::systemEnvironment();
        m_environment.insert(QStringLiteral("XDG_CACHE_HOME"), file(QStringLiteral("cache")));
        for (const Model& model : kModels) writeCase(model);
    }

    void runsWhatCompileWrites_data()
    {
        QTest::addColumn<int>("place");
        QTest::addColumn<int>("model");
        for (size_t p = 0; p < std::size(kPlaces); ++p)
            for (size_t m = 0; m < std::size(kModels); ++m)
                QTest::addRow("%s, %s", kModels[m].name,
                              *kPlaces[p].emulator ? kPlaces[p].emulator : "here")
                    << static_cast<int>(p) << static_cast<int>(m);
    }
    void runsWhatCompileWrites()
    {
        QFETCH(int, place);
        QFETCH(int, model);
        const Place& where = kPlaces[place];
        const Model& what = kModels[model];
        for (const char* tool : {where.emulator, where.compiler})
            if (*tool) NEED_TOOL(tool);
        const QStringList target{QStringLiteral("--target"), QLatin1String(where.target)};
        const QString wanted = compiled(what, target);
        QCOMPARE(wanted.size(), 64);
        const QStringList options = target + bindings(what);
        const QString bench = json(QStringList{QStringLiteral("bench"), pathOf(what),
                                               QStringLiteral("--repeat"), QStringLiteral("1")} +
                                   options)
                                  .value(QStringLiteral("sha256"))
                                  .toString();
        QCOMPARE(bench, wanted);
        const QJsonObject verified =
            json(QStringList{QStringLiteral("verify"), file(QLatin1String(what.name))} + options);
        const QJsonObject one = verified.value(QStringLiteral("cases")).toArray().at(0).toObject();
        QVERIFY2(one.value(QStringLiteral("status")).toString() == QLatin1String("passed"),
                 qPrintable(one.value(QStringLiteral("reason")).toString()));
        QCOMPARE(one.value(QStringLiteral("sha256")).toString(), wanted);
        compareWindow(what, where, wanted);
    }

    void followsEveryOptionOfCompile()
    {
        const Model& model = kModels[1];
        for (const QStringList& options :
             {QStringList{QStringLiteral("--opt-level"), QStringLiteral("0")},
              QStringList{QStringLiteral("--executor"), QStringLiteral("graph")},
              QStringList{QStringLiteral("--executor"), QStringLiteral("vm")},
              QStringList{QStringLiteral("--threads"), QStringLiteral("2")},
              QStringList{QStringLiteral("--disable-pass"), QStringLiteral("FuseOps")},
              QStringList{QStringLiteral("--no-cache")}}) {
            const QString wanted = compiled(model, options);
            QCOMPARE(wanted.size(), 64);
            for (const QStringList& command :
                 {QStringList{QStringLiteral("run"), pathOf(model)},
                  QStringList{QStringLiteral("bench"), pathOf(model), QStringLiteral("--per-layer"),
                              QStringLiteral("--repeat"), QStringLiteral("1")}})
                QVERIFY2(json(command + options).value(QStringLiteral("sha256")) == wanted,
                         qPrintable(command.join(QLatin1Char(' '))));
            const QJsonObject verified = json(
                QStringList{QStringLiteral("verify"), file(QLatin1String(model.name))} + options);
            QCOMPARE(verified.value(QStringLiteral("cases"))
                         .toArray()
                         .at(0)
                         .toObject()
                         .value(QStringLiteral("sha256"))
                         .toString(),
                     wanted);
        }
    }

    void doesNotDependOnFolderCacheOrThreadsOfTheCompiler()
    {
        const Model& model = kModels[6];
        const QString wanted = compiled(model, {});
        QCOMPARE(compiled(model, {QStringLiteral("--no-cache")}), wanted);
        const QString elsewhere = file(QStringLiteral("else where"));
        QVERIFY(QDir().mkpath(elsewhere));
        QVERIFY(QFile::copy(pathOf(model), elsewhere + QStringLiteral("/model.onnx")));
        const QString out = elsewhere + QStringLiteral("/o.so");
        QProcess process;
        process.setProcessEnvironment(m_environment);
        process.setWorkingDirectory(elsewhere);
        process.start(QStringLiteral("taskset"),
                      {QStringLiteral("-c"), QStringLiteral("0"), QStringLiteral(TENON_PROGRAM),
                       QStringLiteral("compile"), QStringLiteral("model.onnx"),
                       QStringLiteral("--no-cache"), QStringLiteral("-o"), out,
                       QStringLiteral("--threads"), QStringLiteral("2")});
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(digestOf(out),
                 compiled(model, {QStringLiteral("--threads"), QStringLiteral("2")}));
    }

    void deploysWhatCompileWritesToAnSshBoard()
    {
        for (const char* tool : {"sshd", "ssh-keygen"}) NEED_TOOL(tool);
        const test::Sshd sshd;
        const QString config = file(QStringLiteral("ssh-config"));
        const QStringList access{QStringLiteral("--config"), config,
                                 QStringLiteral("--accept-host-key"),
                                 QString::fromStdString(sshd.fingerprint())};
        int code = 0;
        tenon(QStringList{QStringLiteral("board"), QStringLiteral("add"), QStringLiteral("pi"),
                          QStringLiteral("--ssh"), QStringLiteral("127.0.0.1:%1").arg(sshd.port()),
                          QStringLiteral("--identity"), QString::fromStdString(sshd.identity())} +
                  access,
              &code);
        QVERIFY2(code == 0, m_errors.constData());
        for (const Model& model : kModels) {
            const QJsonObject deployed =
                json(QStringList{QStringLiteral("deploy"), pathOf(model), QStringLiteral("--board"),
                                 QStringLiteral("pi"), QStringLiteral("--no-bench")} +
                     access + bindings(model));
            const QString target = deployed.value(QStringLiteral("target")).toString();
            QVERIFY2(!target.isEmpty(), m_errors.constData());
            QCOMPARE(deployed.value(QStringLiteral("sha256")).toString(),
                     compiled(model, {QStringLiteral("--target"), target}));
        }
    }

private:
    QTemporaryDir m_folder;
    QProcessEnvironment m_environment;
    QByteArray m_errors;
};

QTEST_GUILESS_MAIN(ArtifactTest)
#include "artifact_test.moc"
